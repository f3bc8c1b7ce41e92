import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { GROUP_TOOLS, isGroupTool } from '../../core/hooks/groups/specs.ts'
import type { PolicyAction } from '../../core/policy/types.ts'
import { isVisibleTool } from '../../mcp/tools/shown-tools.ts'
import type { Services } from '../services.ts'

/** A call that somebody wonders about. */
export interface PossibleCall {
  /** As the model names it. */
  tool: string
  /** Those that the decision depends on are enough. */
  args: JsonObject
  agent: AgentConfig
  /** Links resolved. */
  cwd: string
}

/**
 * What a call would do, as its tool says. Starts nothing.
 *
 * Throws `denied` for what no rule can permit, `invalid` for arguments that make no sense, `missing` when there is no such
 * tool; a server that never ran may have any.
 */
export async function describeCallAction(
  services: Services,
  call: PossibleCall,
  signal: AbortSignal,
): Promise<PolicyAction> {
  const { tool, args, agent, cwd } = call
  const request = { args: { ...REQUIRED.get(tool), ...args }, agent, cwd }
  const described = await services.hook.describe?.(tool, request)
  const action =
    described ??
    (await describeServerTool(services, call, signal)) ??
    (await plainTool(services, call, signal))
  const name = 'name' in action ? action.name : tool
  if (agent.tools.length === 0 || agent.tools.includes(name) || isGroupTool(name)) return action
  throw new CrabError('denied', `Cannot call ${name}: it is not among the tools that the agent's file names`)
}

/** What an action does, for a person: links are resolved. */
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

/** A tool by its full name, or by its own name at the first server that has it; else whatever its name may mean. */
async function describeServerTool(
  { mcp }: Services,
  { tool: wanted, agent }: PossibleCall,
  signal: AbortSignal,
): Promise<PolicyAction | undefined> {
  const servers = agent.mcps.length === 0 ? [] : (await mcp(signal)).view(agent).servers
  const known = servers.flatMap(({ name: server, tools }) => {
    return tools.filter(isVisibleTool).map((tool) => ({ server, tool }))
  })
  const found =
    known.find(({ tool }) => tool.name === wanted) ?? known.find(({ tool }) => tool.remoteName === wanted)
  if (found) return { kind: 'mcp', name: found.tool.name, server: found.server, tool: found.tool.remoteName }
  if (!wanted.startsWith('mcp__')) return undefined
  const declared = servers.find(({ name }) => wanted.startsWith(`mcp__${name}__`))?.name
  const server = declared ?? wanted.split('__')[1] ?? ''
  return { kind: 'mcp', name: wanted, server, tool: wanted.slice(`mcp__${server}__`.length) }
}

/** A built-in tool that says nothing of itself. */
async function plainTool(
  { hook }: Services,
  { tool: name, agent }: PossibleCall,
  signal: AbortSignal,
): Promise<PolicyAction> {
  const builtIn = (await hook.schema?.({ ...agent, mcps: [] }, { tell: () => {}, signal })) ?? []
  const spec = [...builtIn, ...GROUP_TOOLS].find((one) => one.name === name)
  if (spec) return { kind: 'tool', name, harmless: spec.readOnly ?? false }
  const names = builtIn.map((one) => one.name)
  throw new CrabError('missing', `Cannot say anything of ${name}: the agent has no such tool`, {
    hint: didYouMean(name, names) ?? `it has ${names.join(', ')}, and those of its MCP servers`,
  })
}

/** Arguments that a call must have and that no decision depends on. */
const REQUIRED: ReadonlyMap<string, JsonObject> = new Map([
  ['edit', { edits: [{ old: 'a', new: 'b' }] }],
  ['write', { content: '' }],
  ['glob', { pattern: '*' }],
  ['grep', { pattern: '.' }],
  ['remember', { name: 'a', content: 'a' }],
  ['forget', { name: 'a' }],
  ['recall', { query: 'a' }],
])
