import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { GROUP_TOOLS, isGroupTool } from '../../core/hooks/groups/specs.ts'
import type { PolicyAction } from '../../core/policy/types.ts'
import { isVisibleTool } from '../../mcp/tools/entry-filter.ts'
import type { Services } from '../services.ts'

/** A hypothetical tool call. */
export interface PossibleCall {
  /** The tool's name, as the model would call it. */
  tool: string
  /** The arguments; only those that the decision depends on are required. */
  args: JsonObject
  agent: AgentConfig
  /** The working directory, with links resolved. */
  cwd: string
  /** Additional directories, with links resolved. */
  roots: readonly string[]
}

/**
 * Returns what a call would do, as described by its tool. Starts nothing.
 *
 * Throws `denied` for what no rule can permit, `invalid` for invalid arguments, `missing` for an unknown
 * tool; a server that has never run is assumed to have any tool.
 */
export async function describeCallAction(
  services: Pick<Services, 'hook' | 'mcp'>,
  call: PossibleCall,
  signal: AbortSignal,
): Promise<PolicyAction> {
  const { tool, args, agent, cwd, roots } = call
  const request = { args: { ...REQUIRED.get(tool), ...args }, agent, cwd, roots }
  const described = await services.hook.describe?.(tool, request)
  const action =
    described ??
    (await describeServerTool(services, call, signal)) ??
    (await describeBuiltInTool(services, call, signal))
  const name = 'name' in action ? action.name : tool
  if (agent.tools.length === 0 || agent.tools.includes(name) || isGroupTool(name)) return action
  throw new CrabError('denied', `Cannot call ${name}: the agent's file does not list it under tools`, {
    hint: "add it to tools in the agent's file",
  })
}

/** Describes to a person what an action does; links in its path are resolved. */
export function describeAction(action: PolicyAction): string {
  switch (action.kind) {
    case 'read':
    case 'edit':
      return `${action.kind} ${action.path}`
    case 'bash':
      return `bash: ${action.command}`
    default:
      return action.name
  }
}

/**
 * Finds a server's tool by its full name, or by its own name on the first server that has it; otherwise
 * derives server and tool from the name.
 */
async function describeServerTool(
  { mcp }: Pick<Services, 'mcp'>,
  { tool: toolName, agent }: PossibleCall,
  signal: AbortSignal,
): Promise<PolicyAction | undefined> {
  const servers = agent.mcps.length === 0 ? [] : (await mcp(signal)).view(agent).servers
  const known = servers.flatMap(({ name: server, tools }) => {
    return tools.filter(isVisibleTool).map((tool) => ({ server, tool }))
  })
  const found =
    known.find(({ tool }) => tool.name === toolName) ?? known.find(({ tool }) => tool.remoteName === toolName)
  if (found) return { kind: 'mcp', name: found.tool.name, server: found.server, tool: found.tool.remoteName }
  if (!toolName.startsWith('mcp__')) return undefined
  const declared = servers.find(({ name }) => toolName.startsWith(`mcp__${name}__`))?.name
  const server = declared ?? toolName.split('__')[1] ?? ''
  return { kind: 'mcp', name: toolName, server, tool: toolName.slice(`mcp__${server}__`.length) }
}

/** Returns the action of a built-in tool that does not describe itself. */
async function describeBuiltInTool(
  { hook }: Pick<Services, 'hook'>,
  { tool: name, agent }: PossibleCall,
  signal: AbortSignal,
): Promise<PolicyAction> {
  const builtIn = (await hook.schema?.({ ...agent, mcps: [] }, { emit: () => {}, signal })) ?? []
  const spec = [...builtIn, ...GROUP_TOOLS].find((one) => one.name === name)
  if (spec) return { kind: 'tool', name, harmless: spec.readOnly ?? false }
  const names = builtIn.map((one) => one.name)
  throw new CrabError('missing', `Cannot explain ${name}: the agent has no tool of that name`, {
    hint: didYouMean(name, names) ?? `its tools are ${names.join(', ')}, and those of its MCP servers`,
  })
}

/** Placeholders for required arguments that no decision depends on. */
const REQUIRED: ReadonlyMap<string, JsonObject> = new Map([
  ['edit', { edits: [{ old: 'a', new: 'b' }] }],
  ['write', { content: '' }],
  ['glob', { pattern: '*' }],
  ['grep', { pattern: '.' }],
  ['remember', { name: 'a', content: 'a' }],
  ['forget', { name: 'a' }],
  ['recall', { query: 'a' }],
])
