import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { checkMcpEntry } from '../../core/config/mcp-declaration.ts'
import { formatLocation } from '../../core/config/validation-issue.ts'
import { GROUP_TOOLS } from '../../core/hooks/groups/specs.ts'
import type { Rule } from '../../core/policy/types.ts'
import {
  type McpAgentView,
  type McpPeer,
  McpPeerState,
  McpServerView,
  type McpToolView,
  type McpView,
  PolicyEffect,
  type ViewMcp,
} from '../../core/protocol/crabtalk.generated.ts'
import type { ToolSpec } from '../../core/provider/types.ts'
import { isVisibleTool } from '../../mcp/tools/entry-filter.ts'
import type { AgentView, McpServers, PeerState, PeerView, ServerView, ToolView } from '../../mcp/types.ts'
import { listServerSources, toBuiltAgent } from '../built-agent.ts'
import { toBrokenPeers, toMissingServers } from '../components/missing-views.ts'
import type { Services } from '../services.ts'
import { readObject } from './json-text.ts'
import { judgeTool, loadAgentRules, toPolicyEffect, toPolicyRule } from './mcp-policy.ts'

/**
 * Handles `mcp_view`: returns all connections, and the view of one agent, or of every agent when `agent` is
 * empty, and of entries that only the request has. Does not start any server.
 */
export async function mcpView(
  services: Pick<Services, 'agents' | 'hook' | 'components' | 'mcp' | 'rules'>,
  { agent, entries }: ViewMcp,
  signal: AbortSignal,
): Promise<McpView> {
  const { agents, mcp, components } = services
  const servers = await mcp(signal)
  const listed = agent === '' ? (await agents.list()).agents : [await agents.get(agent)]
  const views = listed.map(async (stored) => {
    const one = toBuiltAgent(services, stored)
    const rules = await loadAgentRules(services, one)
    const places = await listServerSources(services, one)
    const view = toAgentView(one, { view: servers.view(one), places, rules })
    const missing = [...toInvalidServers(stored), ...toMissingServers(components.missing(stored))]
    return { ...view, servers: [...view.servers, ...missing] }
  })
  const peers = [...(await withMemoryUsage(servers.peers().map(toPeer))), ...toBrokenPeers(components.broken)]
  const [first] = listed
  const entryViews = entries.length === 0 || !first ? [] : [viewEntries(servers, first, entries)]
  return { peers, agents: [...(await Promise.all(views)), ...entryViews] }
}

/** Describes servers that no file of an agent declares. The rules of agents are not applied to them. */
function viewEntries(servers: McpServers, stored: AgentConfig, entries: readonly string[]): McpAgentView {
  const what = 'Cannot view the MCP servers'
  const mcps = entries.map((text) => checkMcpEntry(what, readObject(what, text), undefined))
  const agent = { ...stored, id: '', tools: [], mcps }
  return { ...toAgentView(agent, { view: servers.view(agent), places: [], rules: [] }), agent: '' }
}

/** Adds the memory usage of their processes to connections, where the system reports it. */
async function withMemoryUsage(peers: readonly McpPeer[]): Promise<McpPeer[]> {
  const pids = peers.flatMap(({ pid }) => pid ?? [])
  if (pids.length === 0) return [...peers]
  const { groupMemory } = await import('../../core/process/group-memory.ts')
  const memory = await groupMemory(pids).catch(() => undefined) // the view is useful without this figure
  return peers.map((peer) => ({ ...peer, memoryBytes: memory?.get(peer.pid ?? 0) }))
}

/** Converts the servers whose entries are invalid; an agent is used without them. */
function toInvalidServers({ invalidMcps = [] }: AgentConfig): McpServerView[] {
  return invalidMcps.map(({ name, problems }) => ({
    ...McpServerView.create(),
    name,
    source: problems[0] ? formatLocation({ ...problems[0], column: undefined }) : '',
    state: McpPeerState.INVALID,
    error: problems.map(({ message }) => message).join('; '),
  }))
}

/** Converts a connection to its wire form. */
export function toPeer(peer: PeerView): McpPeer {
  const { envNames, headerNames, owners, state, latencyMs } = peer
  return {
    fingerprint: peer.fingerprint,
    transport: peer.transport,
    target: peer.target,
    envNames: [...envNames],
    headerNames: [...headerNames],
    owners: [...owners],
    state: STATES[state],
    starts: peer.starts,
    error: peer.error,
    protocolVersion: peer.protocolVersion,
    toolCount: peer.toolCount,
    schemaTokens: peer.schemaTokens,
    pid: peer.pid,
    memoryBytes: undefined,
    calls: peer.calls,
    errors: peer.errors,
    latencyMs,
    failures: peer.failures,
    connectedAt: toTime(peer.connectedAt),
    lastOkAt: toTime(peer.lastOkAt),
    lastErrorAt: toTime(peer.lastErrorAt),
    nextRetryAt: toTime(peer.nextRetryAt),
  }
}

/** Returns a server's tools, each with its policy decision; tools that the model does not see have none. */
export function toToolViews({ name, tools }: ServerView, rules: readonly Rule[]): McpToolView[] {
  return tools.map((tool) => ({
    ...pick(tool),
    ...(isVisibleTool(tool) ? toPolicyDecision(name, tool, rules) : UNJUDGED),
  }))
}

function toAgentView(
  agent: AgentConfig,
  { view, places, rules }: { view: AgentView; places: readonly string[]; rules: readonly Rule[] },
): McpAgentView {
  const servers = view.servers.map((server): McpServerView => {
    const place = agent.mcps.findIndex(({ name }) => name === server.name)
    return {
      name: server.name,
      fingerprint: server.fingerprint,
      source: places[place] ?? '',
      state: STATES[server.state],
      error: server.error,
      lastErrorAt: toTime(server.lastErrorAt),
      listed: server.isListed,
      tools: toToolViews(server, rules),
      schemaTokens: sumSchemaTokens(server.tools),
    }
  })
  const { generation, toolLists, isGrouped: grouped } = view
  const ofAll = servers.reduce((sum, server) => sum + server.schemaTokens, 0)
  const schemaTokens = grouped ? estimateSpecTokens(GROUP_TOOLS) : ofAll
  return {
    ...{ agent: agent.name, mode: describeToolMode(agent, view), generation, servers },
    ...{ schemaTokens, toolLists, grouped },
  }
}

/**
 * Describes the mode in words, because an empty list of servers means no tools, while an empty `include`
 * means all tools.
 */
function describeToolMode({ mcps }: AgentConfig, { servers }: AgentView): string {
  if (mcps.length === 0) return 'none'
  const limits = mcps.some(({ include = [], exclude = [], disabled = false }) => {
    return disabled || include.length > 0 || exclude.length > 0
  })
  return limits ? `only ${servers.flatMap(({ tools }) => tools).filter(isVisibleTool).length}` : 'all'
}

function pick({ remoteName, name, description, hidden, schemaTokens }: ToolView) {
  return { remoteName, name, description, hidden, schemaTokens }
}

/** Sums the tokens of the tools that the agent gets. */
function sumSchemaTokens(tools: readonly ToolView[]): number {
  return tools.filter(isVisibleTool).reduce((sum, { schemaTokens }) => sum + schemaTokens, 0)
}

/** Estimates four bytes per token, as for the tools of servers. */
function estimateSpecTokens(tools: readonly ToolSpec[]): number {
  const text = JSON.stringify(
    tools.map(({ name, description, parameters }) => [name, description, parameters]),
  )
  return Math.ceil(Buffer.byteLength(text) / 4)
}

function toPolicyDecision(
  server: string,
  tool: ToolView,
  rules: readonly Rule[],
): Pick<McpToolView, 'effect' | 'rule'> {
  const { effect, rule } = judgeTool({ server, tool }, rules)
  return { effect: toPolicyEffect(effect), rule: rule && toPolicyRule(rule) }
}

const UNJUDGED = { effect: PolicyEffect.UNSPECIFIED, rule: undefined } as const

function toTime(ms: number | undefined): string {
  return ms === undefined ? '' : new Date(ms).toISOString()
}

const STATES: Record<PeerState, McpPeerState> = {
  disabled: McpPeerState.DISABLED,
  invalid: McpPeerState.INVALID,
  connecting: McpPeerState.CONNECTING,
  connected: McpPeerState.CONNECTED,
  needs_auth: McpPeerState.NEEDS_AUTH,
  failed: McpPeerState.FAILED,
  idle: McpPeerState.IDLE,
}
