import type { McpEntry } from '../../core/config/mcp-entry.ts'
import {
  type AgentInfo,
  type McpAgentView,
  McpPeerState,
  type McpToolView,
  type McpView,
} from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { toTarget } from '../../mcp/fingerprint.ts'
import { showTarget } from '../../mcp/shown-target.ts'

/** A declared server as far as it is known without starting it. */
export interface Declared {
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
): Promise<Declared[]> {
  const info = await request(dispatch, 'getAgent', { name: agent }, signal)
  return toDeclared(info, await request(dispatch, 'mcpView', { agent: info.name }, signal))
}

/** The servers of all agents, and what is wrong with the files of agents that could not be read. */
export async function readAllServers(
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<{ servers: Declared[]; problems: string[] }> {
  const { agents, problems } = await request(dispatch, 'listAgents', {}, signal)
  const view = await request(dispatch, 'mcpView', {}, signal)
  return { servers: agents.flatMap((info) => toDeclared(info, view)), problems }
}

/** `stdio`, `http` or `sse`. */
export function transportOf({ url, transport = 'http' }: McpEntry): string {
  return url === undefined ? 'stdio' : transport
}

/** The command line or the address, without what looks like a secret. */
export function targetOf(entry: McpEntry): string {
  return showTarget(toTarget(entry, { home: '', baseEnv: {} }))
}

function toDeclared({ name: agent, config }: AgentInfo, { agents, peers }: McpView): Declared[] {
  const { mcps = [] }: { mcps?: McpEntry[] } = JSON.parse(config)
  const view: McpAgentView | undefined = agents.find((one) => one.agent === agent)
  return mcps.map((entry) => {
    const server = view?.servers.find(({ name }) => name === entry.name)
    const peer = peers.find(({ fingerprint }) => fingerprint === server?.fingerprint)
    return {
      agent,
      entry,
      source: server?.source ?? '',
      state: STATES[server?.state ?? McpPeerState.UNSPECIFIED],
      error: server?.error || (server?.state === McpPeerState.INVALID ? NOT_YET : ''),
      lastErrorAt: server?.lastErrorAt ?? '',
      fingerprint: server?.fingerprint ?? '',
      protocolVersion: peer?.protocolVersion ?? '',
      tools: server?.listed ? server.tools : undefined,
    }
  })
}

const NOT_YET = 'remote servers come with a later version'

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
