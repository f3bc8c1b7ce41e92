import { estimateTokens, estimateToolTokens } from '../core/base/estimate-tokens.ts'
import type { AgentConfig } from '../core/config/agent-schema.ts'
import type { McpEntry } from '../core/config/mcp-entry.ts'
import type { Peer } from './peers/peer.ts'
import { toOwners } from './peers/server-events.ts'
import { showTarget } from './secrets/shown-target.ts'
import { listAgentTools } from './tools/agent-tools.ts'
import { hiddenBy } from './tools/entry-filter.ts'
import type { RemoteTool, ToolList } from './tools/remote-tool.ts'
import { toPrintableLine } from './tools/server-text.ts'
import type { PeerState, PeerView, ServerView, ToolView } from './types.ts'

/** Describes a connection for display. */
export function viewPeer(peer: Peer): PeerView {
  const { target, record, failures, list } = peer
  return {
    fingerprint: peer.fingerprint,
    transport: target.transport,
    target: showTarget(target),
    envNames: target.transport === 'stdio' ? Object.keys(target.env).toSorted() : [],
    headerNames: target.transport === 'stdio' ? [] : Object.keys(target.headers).toSorted(),
    owners: toOwners(peer.claims),
    state: peer.state,
    starts: record.starts,
    error: peer.error?.message ?? '',
    protocolVersion: peer.protocolVersion,
    toolCount: list?.tools.length ?? 0,
    schemaTokens: estimateSchemaTokens(list?.tools ?? []),
    pid: peer.pid,
    calls: record.calls,
    errors: record.errors,
    latencyMs: record.latencyMs,
    failures: failures.count,
    connectedAt: peer.state === 'connected' ? peer.connectedAt : undefined,
    lastOkAt: record.lastOkAt,
    lastErrorAt: record.lastErrorAt ?? peer.memory.failure?.at,
    nextRetryAt: peer.nextRetryAt,
  }
}

/** A declaration with the known state and tools of its server. */
export interface DeclaredServer {
  entry: McpEntry
  fingerprint: string
  state: PeerState
  list: ToolList | undefined
  error?: string
  lastErrorAt?: number | undefined
}

/** Describes each declaration of an agent, including the tools that the model does not see and why. */
export function viewServers(
  agent: Pick<AgentConfig, 'tools'>,
  declared: readonly DeclaredServer[],
): ServerView[] {
  const agentTools = listAgentTools(declared)
  return declared.map(({ entry, fingerprint, state, list, error = '', lastErrorAt }) => {
    const own = agentTools.filter((tool) => tool.entry === entry)
    const names = new Map(own.map(({ name, tool }) => [tool.name, name]))
    const tools = (list?.tools ?? []).map((tool): ToolView => {
      const name = names.get(tool.name)
      return {
        ...toToolHead(tool),
        ...visibility({ agent, entry, tool, name }),
        schemaTokens: estimateToolTokens(tool.name, tool.description, tool.inputSchema),
      }
    })
    const dropped = (list?.dropped ?? []).map(({ name, why }): ToolView => {
      return { remoteName: name, name: '', description: '', hidden: why, schemaTokens: 0 }
    })
    const isListed = list !== undefined
    return {
      name: entry.name,
      fingerprint,
      state,
      error,
      lastErrorAt,
      isListed,
      tools: [...tools, ...dropped],
    }
  })
}

interface VisibilityInput {
  agent: Pick<AgentConfig, 'tools'>
  entry: McpEntry
  tool: RemoteTool
  /** Undefined when the entry filters it out. */
  name: string | undefined
}

function visibility({ agent, entry, tool, name }: VisibilityInput): Pick<ToolView, 'name' | 'hidden'> {
  if (name === undefined) return { name: '', hidden: hiddenBy(entry, tool.name) }
  if (agent.tools.length === 0 || agent.tools.includes(name)) return { name, hidden: '' }
  return { name: '', hidden: `the agent's tools do not include ${name}` }
}

function toToolHead({ name, description }: RemoteTool): Pick<ToolView, 'remoteName' | 'description'> {
  return { remoteName: toPrintableLine(name), description }
}

/** Estimates the tokens of the definitions of tools. */
function estimateSchemaTokens(tools: readonly RemoteTool[]): number {
  if (tools.length === 0) return 0
  return estimateTokens(
    JSON.stringify(tools.map(({ name, description, inputSchema }) => [name, description, inputSchema])),
  )
}
