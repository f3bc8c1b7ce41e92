import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { newUlid } from '../../core/base/ids.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { entryRules } from '../../core/config/entry-rules.ts'
import { checkMcpEntry, findAgentServer, findMcpEntry } from '../../core/config/mcp-declaration.ts'
import { refuseUnexpanded } from '../../core/config/unfilled-values.ts'
import type { Rule } from '../../core/policy/types.ts'
import { type McpAction, McpActionKind, McpActionResult } from '../../core/protocol/crabtalk.generated.ts'
import { isVisibleTool } from '../../mcp/tools/entry-filter.ts'
import type { McpServers, ServerView, ToolView } from '../../mcp/types.ts'
import { toBuiltAgent } from '../built-agent.ts'
import { refuseMissing } from '../components/refuse-component.ts'
import type { Services } from '../services.ts'
import { MAX_RESULT_BYTES, toAttachment } from './attachment.ts'
import { readObject } from './json-text.ts'
import { setDisabled } from './mcp.ts'
import { judgeTool, loadAgentRules } from './mcp-policy.ts'
import { RESOURCE_ACTIONS } from './mcp-resources-prompts.ts'
import { toPeer, toToolViews } from './mcp-view.ts'

type ActionServices = Pick<
  Services,
  'node' | 'agents' | 'hook' | 'components' | 'agentSync' | 'rules' | 'now'
>

/** The dependencies and the request of an action. */
interface ActionContext {
  services: ActionServices
  servers: McpServers
  agent: AgentConfig
  message: McpAction
}

type Result = Partial<Omit<McpActionResult, 'peer'>>

/**
 * Handles `mcp_action`: performs one action on the connection behind a declaration, and starts the connection
 * if the action needs it.
 */
export async function mcpAction(
  services: ActionServices & Pick<Services, 'mcp'>,
  message: McpAction,
  signal: AbortSignal,
): Promise<McpActionResult> {
  const stored = await services.agents.get(message.agent || DEFAULT_AGENT)
  if (message.entry !== '') return await actOnEntry(services, { stored, message }, signal)
  refuseMissing(services, stored, message.name)
  const agent = toBuiltAgent(services, stored)
  findAgentServer(agent, message.name)
  return await perform(ACTIONS, { services, servers: await services.mcp(signal), agent, message }, signal)
}

/** Performs an action on a server that only this request names; a server that it started ends afterwards. */
async function actOnEntry(
  services: ActionServices & Pick<Services, 'mcp'>,
  { stored, message }: { stored: AgentConfig; message: McpAction },
  signal: AbortSignal,
): Promise<McpActionResult> {
  const what = `Cannot use the MCP server "${message.name}"`
  const entry = checkMcpEntry(what, readObject(what, message.entry), undefined)
  if (entry.name !== message.name) throw new CrabError('invalid', `${what}: its entry has another name`)
  const servers = await services.mcp(signal)
  const agent = { ...stored, id: `${stored.id}:${newUlid()}`, mcps: [entry] }
  try {
    return await perform(ENTRY_ACTIONS, { services, servers, agent, message }, signal)
  } finally {
    await servers.hook.onUnregisterAgent?.(agent)
  }
}

async function perform(
  actions: Partial<Record<McpActionKind, Act>>,
  context: ActionContext,
  signal: AbortSignal,
): Promise<McpActionResult> {
  const { servers, agent, message } = context
  const act = actions[message.action]
  if (!act) throw new CrabError('invalid', 'Cannot act on the server: unknown action')
  const result = await act(context, signal)
  const { fingerprint } = requireServer(servers, agent, message.name)
  const peer = servers.peers().find((one) => one.fingerprint === fingerprint)
  return { ...McpActionResult.create(), ...result, peer: peer && toPeer(peer) }
}

type Act = (context: ActionContext, signal: AbortSignal) => Promise<Result>

const ACTIONS: Partial<Record<McpActionKind, Act>> = {
  [McpActionKind.PING]: ping,
  [McpActionKind.RECONNECT]: reconnect,
  [McpActionKind.ENABLE]: enable,
  [McpActionKind.DISABLE]: (context) => disable(context, true),
  [McpActionKind.CALL]: call,
  [McpActionKind.LOGS]: logs,
  [McpActionKind.TOOLS]: tools,
  ...RESOURCE_ACTIONS,
}

/** The actions on a server that no file of an agent declares. */
const ENTRY_ACTIONS: typeof ACTIONS = {
  [McpActionKind.PING]: ping,
  [McpActionKind.RECONNECT]: reconnect,
  [McpActionKind.CALL]: call,
  [McpActionKind.LOGS]: logs,
  [McpActionKind.TOOLS]: tools,
}

async function ping(context: ActionContext, signal: AbortSignal): Promise<Result> {
  const { services, servers, agent, message } = context
  const startedAt = services.now()
  await servers.connect(agent, message.name, signal)
  const connectMs = Math.round(services.now() - startedAt)
  const { ms } = await servers.ping(agent, message.name, signal)
  return { connectMs, durationMs: Math.round(ms) }
}

async function logs({ servers, agent, message }: ActionContext): Promise<Result> {
  return { logs: servers.logs(agent, message.name) }
}

async function reconnect({ servers, agent, message }: ActionContext, signal: AbortSignal): Promise<Result> {
  await servers.reconnect(agent, message.name, signal)
  return {}
}

async function enable(context: ActionContext): Promise<Result> {
  const { agent, message } = context
  const entry = agent.mcps.find(({ name }) => name === message.name)
  if (entry) refuseUnexpanded(`Cannot enable the server "${message.name}"`, entry)
  return await disable(context, false)
}

async function disable({ services, agent, message }: ActionContext, disabled: boolean): Promise<Result> {
  await setDisabled(services, { agent: agent.name, name: message.name, disabled })
  return {}
}

async function tools(context: ActionContext, signal: AbortSignal): Promise<Result> {
  const { services, servers, agent, message } = context
  await servers.connect(agent, message.name, signal)
  const rules = await loadRules(services, agent, message)
  return { tools: toToolViews(requireServer(servers, agent, message.name), rules) }
}

async function call(context: ActionContext, signal: AbortSignal): Promise<Result> {
  const { services, servers, agent, message } = context
  const { name } = message
  const args = message.arguments === '' ? {} : readObject('Cannot read the arguments', message.arguments)
  await servers.connect(agent, name, signal)
  const tool = findTool(requireServer(servers, agent, name), message.tool)
  await permit(context, tool)
  const spillDir = join(services.node.paths.cache, 'output', 'mcp', newUlid())
  const startedAt = services.now()
  try {
    const { words } = message
    const at = { agent, name, tool: tool.remoteName, args, words, spillDir, outputLimit: MAX_RESULT_BYTES }
    const result = await servers.call(at, signal)
    return {
      durationMs: Math.max(0, Math.round(services.now() - startedAt)),
      output: result.output, // contains the path of spilled output
      isError: result.isError,
      attachments: (result.attachments ?? []).map(toAttachment),
    }
  } finally {
    await rmdir(spillDir).catch(() => undefined) // never created, or still needed because it holds spilled output
  }
}

/**
 * Throws `denied` when a rule denies the call. Rules that ask do not apply: the user answers by making the
 * call.
 */
async function permit({ services, agent, message }: ActionContext, tool: ToolView) {
  const rules = await loadRules(services, agent, message)
  const { effect, rule, reason } = judgeTool({ server: message.name, tool }, rules)
  if (effect !== 'deny') return
  const hint = rule ? `change the rule ${rule.pattern} of ${rule.source}` : undefined
  throw new CrabError(
    'denied',
    `Cannot call ${tool.remoteName} of "${message.name}": ${reason}`,
    hint ? { hint } : {},
  )
}

/** Returns the rules of the agent, after those of an entry that only the request has. */
async function loadRules(
  services: ActionServices,
  agent: AgentConfig,
  { entry }: McpAction,
): Promise<Rule[]> {
  const own =
    entry === '' ? [] : agent.mcps.flatMap((one) => entryRules(one, () => `the entry of ${one.name}`))
  return [...own, ...(await loadAgentRules(services, agent))]
}

/** Finds a tool by its own name, or by the name that the model sees. */
function findTool({ name: server, tools }: ServerView, name: string): ToolView {
  const found = tools.find((tool) => tool.remoteName === name) ?? tools.find((tool) => tool.name === name)
  const what = `Cannot call ${name} of "${server}"`
  if (found && isVisibleTool(found)) return found
  if (found) throw new CrabError('missing', `${what}: the agent does not have it: ${found.hidden}`)
  const names = tools.filter(isVisibleTool).map((tool) => tool.remoteName)
  throw new CrabError('missing', `${what}: it does not have that tool`, {
    hint: didYouMean(name, names) ?? `list them with crabtalk mcp tools ${server}`,
  })
}

function requireServer(servers: McpServers, agent: AgentConfig, name: string): ServerView {
  return findMcpEntry(agent.name, servers.view(agent).servers, name)
}
