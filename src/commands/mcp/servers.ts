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
import { toTarget } from '../../mcp/fingerprint.ts'
import { showTarget } from '../../mcp/secrets/shown-target.ts'

/** A declared server as far as it is known without starting it. */
export interface ServerRow {
  agent: string
  /** As in the agent's file, secrets hidden. */
  entry: McpEntry
  /** Where that is: `agents/crab.toml:7`. */
  source: string
  state: string
  /** What went wrong last, or why it cannot be used; else empty. */
  error: string
  /** When that was: RFC 3339; else empty. */
  lastErrorAt: string
  fingerprint: string
  protocolVersion: string
  /** Those of the last time it was listed; undefined when it never was. */
  tools: readonly McpToolView[] | undefined
}

/** The servers of one agent in their order. */
export async function readServers(
  dispatch: Dispatch,
  agent: string,
  signal: AbortSignal,
): Promise<ServerRow[]> {
  const info = await request(dispatch, 'getAgent', { name: agent }, signal)
  const view = await request(dispatch, 'mcpView', { agent: info.name }, signal)
  return toServerRow(info, view, await readComponents(dispatch, { infos: [info], view }, signal))
}

/** The servers of all agents, and what is wrong with the files of agents that could not be read. */
export async function readAllServers(
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<{ servers: ServerRow[]; problems: string[] }> {
  const { agents, problems } = await request(dispatch, 'listAgents', {}, signal)
  const view = await request(dispatch, 'mcpView', {}, signal)
  const components = await readComponents(dispatch, { infos: agents, view }, signal)
  return { servers: agents.flatMap((info) => toServerRow(info, view, components)), problems }
}

/** What the view has and no file declares comes from port files; their addresses are asked for only where there are some. */
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

/** `stdio`, `http` or `sse`. */
export function inferTransport({ url, command, transport = 'http' }: McpEntry): string {
  return url === undefined && command !== undefined ? 'stdio' : transport
}

/** The command line or the address, without what looks like a secret. */
export function describeTarget(entry: McpEntry): string {
  if (entry.url === undefined && entry.command === undefined) return '' // a component whose port file is none
  return showTarget(toTarget(entry, { home: '', baseEnv: {} }))
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

/** A state as people and `--json` read it. */
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
