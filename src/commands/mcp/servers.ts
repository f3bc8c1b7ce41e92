import type { Host } from '../../cli/host.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import {
  type AgentInfo,
  type McpInfo,
  McpPeerState,
  type McpServerView,
  type McpToolView,
  type McpView,
} from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'

/** A declared server as far as it is known without starting it. */
export interface ServerRow {
  agent: string
  /** The entry as in the agent's file, with secrets hidden. */
  entry: McpEntry
  /** The location of the entry: `agents/crab.toml:7`. */
  source: string
  state: string
  /** The last error, or the reason why the server cannot be used; else empty. */
  error: string
  /** The time of that error in RFC 3339; else empty. */
  lastErrorAt: string
  fingerprint: string
  protocolVersion: string
  /** The tools when they were last listed; undefined if they never were. */
  tools: readonly McpToolView[] | undefined
}

/** The servers of agents, with the view that they come from. */
export interface AgentViews {
  infos: readonly AgentInfo[]
  view: McpView
  servers: ServerRow[]
  /** The issues of agent files that could not be read. */
  problems: readonly string[]
}

/** Returns the view of one agent, or of all when the name is empty. */
export async function readAgentViews(
  dispatch: Dispatch,
  agent: string,
  signal: AbortSignal,
): Promise<AgentViews> {
  const { agents: infos, problems } =
    agent === ''
      ? await request(dispatch, 'listAgents', {}, signal)
      : { agents: [await request(dispatch, 'getAgent', { name: agent }, signal)], problems: [] }
  const view = await request(dispatch, 'mcpView', { agent: agent === '' ? '' : infos[0]!.name }, signal)
  const components = await readComponents(dispatch, { infos, view }, signal)
  return { infos, view, problems, servers: infos.flatMap((info) => toServerRow(info, view, components)) }
}

/** Returns the servers of one agent, in their order. */
export async function readServers(
  dispatch: Dispatch,
  agent: string,
  signal: AbortSignal,
): Promise<ServerRow[]> {
  return (await readAgentViews(dispatch, agent, signal)).servers
}

/** Returns the servers of all agents, and the issues of agent files that could not be read. */
export async function readAllServers(
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<Pick<AgentViews, 'servers' | 'problems'>> {
  return await readAgentViews(dispatch, '', signal)
}

/**
 * Returns the servers of all agents without starting one; none when the home cannot be opened, which other
 * checks report.
 */
export async function readKnownServers(host: Host, signal: AbortSignal): Promise<ServerRow[]> {
  try {
    const { attach } = await import('../../daemon/attach.ts')
    await using attached = await attach(host)
    return (await readAllServers(attached.dispatch, signal)).servers
  } catch {
    signal.throwIfAborted()
    return []
  }
}

/**
 * Fetches the addresses of the servers that come from port files: those in the view that no file declares.
 * Makes no request when there are none.
 */
async function readComponents(
  dispatch: Dispatch,
  { infos, view }: { infos: readonly AgentInfo[]; view: McpView },
  signal: AbortSignal,
): Promise<readonly McpInfo[]> {
  const isThere = infos.some((info) => findJoinedServers(info, view).length > 0)
  return isThere ? (await request(dispatch, 'listMcps', { agent: '' }, signal)).mcps : []
}

function findJoinedServers({ name, mcps }: AgentInfo, { agents }: McpView): McpServerView[] {
  const servers = agents.find(({ agent }) => agent === name)?.servers ?? []
  return servers.filter((server) => !mcps.includes(server.name))
}

function toServerRow(info: AgentInfo, view: McpView, components: readonly McpInfo[]): ServerRow[] {
  const { name: agent, config } = info
  const { mcps = [] }: { mcps?: McpEntry[] } = JSON.parse(config)
  const joined = findJoinedServers(info, view).map(({ name }): McpEntry => {
    const url = components.find((one) => one.source === agent && one.name === name)?.url
    return url ? { name, url } : { name }
  })
  const known = view.agents.find((one) => one.agent === agent)
  return [...mcps, ...joined].map((entry) => {
    const server = known?.servers.find(({ name }) => name === entry.name)
    const peer = view.peers.find(({ fingerprint }) => fingerprint === server?.fingerprint)
    return {
      agent,
      entry,
      source: server?.source ?? '',
      state: stateName(server?.state ?? McpPeerState.UNSPECIFIED),
      error: server?.error ?? '',
      lastErrorAt: server?.lastErrorAt ?? '',
      fingerprint: server?.fingerprint ?? '',
      protocolVersion: peer?.protocolVersion ?? '',
      tools: server?.listed ? server.tools : undefined,
    }
  })
}

/** Returns the name of a state, for people and for `--json`. */
export function stateName(state: McpPeerState): string {
  return STATES[state]
}

const STATES: Record<McpPeerState, string> = {
  [McpPeerState.UNSPECIFIED]: 'unknown',
  [McpPeerState.DISABLED]: 'disabled',
  [McpPeerState.INVALID]: 'invalid',
  [McpPeerState.CONNECTING]: 'connecting',
  [McpPeerState.CONNECTED]: 'connected',
  [McpPeerState.NEEDS_AUTH]: 'needs_auth',
  [McpPeerState.FAILED]: 'failed',
  [McpPeerState.IDLE]: 'idle',
}
