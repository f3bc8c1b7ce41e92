import { type McpPeer, McpPeerState, type McpView } from '../../core/protocol/crabtalk.generated.ts'
import type { Panel, PanelRow } from '../overlays/types.ts'
import { formatCount, plural } from '../view/numbers.ts'
import { byteText } from './numbers.ts'

/** What a row of the panel acts on: one declaration, and through it the process it shares. */
export interface Target {
  agent: string
  name: string
}

/** The panel of all MCP servers: a row for each process, and for what is declared and has none. */
export function mcpPanel(
  view: McpView,
  { agent, selected = 0, note = '' }: { agent: string; selected?: number; note?: string },
): Panel {
  const rows = [...view.peers.map((peer) => peerRow(peer, agent)), ...idleRows(view, agent)]
  return {
    kind: 'panel',
    picker: 'mcp',
    title: titleOf(view),
    header: [
      'SERVER',
      'STATE',
      'OWNERS',
      'TOOLS',
      'CALLS',
      'ERRORS',
      'LATENCY',
      'TOKENS',
      'MEMORY',
      'TARGET',
    ],
    rows,
    selected: Math.max(0, Math.min(selected, rows.length - 1)),
    keys: KEYS,
    note,
  }
}

/** The row's target; undefined for what is no row of this panel. */
export function readTarget(value: string): Target | undefined {
  const [agent, name] = value.split('\n')
  return agent !== undefined && name !== undefined ? { agent, name } : undefined
}

const KEYS = [
  { key: 't', label: 'tools' },
  { key: 'r', label: 'restart' },
  { key: 'l', label: 'logs' },
  { key: 'p', label: 'ping' },
  { key: 'd', label: 'disable' },
  { key: 'e', label: 'enable' },
]

function titleOf({ peers, agents }: McpView): string {
  const owners = new Set(agents.filter(({ servers }) => servers.length > 0).map(({ agent }) => agent))
  const processes = peers.filter(({ state }) => state === McpPeerState.CONNECTED).length
  return `MCP servers: ${plural(processes, 'connection')}, ${plural(owners.size, 'agent')}`
}

function peerRow(peer: McpPeer, agent: string): PanelRow {
  const { owners, calls, errors, latencyMs, schemaTokens, memoryBytes, toolCount } = peer
  const own = owners.find((owner) => owner.agent === agent) ?? owners[0]
  return {
    value: own ? toValue(own) : '',
    cells: [
      [...new Set(owners.map(({ name }) => name))].join(', '),
      stateName(peer.state),
      ownersText(owners.map((owner) => owner.agent)),
      String(toolCount),
      String(calls),
      String(errors),
      latencyMs === undefined ? '-' : `${Math.round(latencyMs)} ms`,
      formatCount(schemaTokens),
      memoryBytes === undefined ? '-' : byteText(memoryBytes),
      peer.target,
    ],
    problem: peer.error,
  }
}

/** Declarations without a connection: those that are disabled, cannot be used, or were never needed. */
function idleRows({ peers, agents }: McpView, agent: string): PanelRow[] {
  const known = new Set(peers.map(({ fingerprint }) => fingerprint))
  const servers = agents.flatMap((view) => view.servers.map((server) => ({ ...server, agent: view.agent })))
  const idle = servers.filter(({ fingerprint }) => !known.has(fingerprint))
  const groups = Map.groupBy(
    idle,
    ({ fingerprint, agent: owner, name }) => fingerprint || `${owner}\n${name}`,
  )
  return [...groups.values()].map((group) => {
    const own = group.find((one) => one.agent === agent) ?? group[0]!
    const tools = own.listed ? String(own.tools.length) : '-'
    const owners = ownersText(group.map((one) => one.agent))
    return {
      value: toValue(own),
      cells: [own.name, stateName(own.state), owners, tools, '-', '-', '-', '-', '-', own.source],
      problem: own.error,
    }
  })
}

function ownersText(agents: readonly string[]): string {
  const names = [...new Set(agents)]
  return names.length <= 1 ? (names[0] ?? 'nobody') : `${names.length} agents`
}

function toValue({ agent, name }: Target): string {
  return `${agent}\n${name}`
}

/** A state in words. */
export function stateName(state: McpPeerState): string {
  return STATES[state] ?? 'unknown'
}

const STATES: Readonly<Record<number, string>> = {
  [McpPeerState.DISABLED]: 'disabled',
  [McpPeerState.INVALID]: 'invalid',
  [McpPeerState.CONNECTING]: 'connecting',
  [McpPeerState.CONNECTED]: 'connected',
  [McpPeerState.NEEDS_AUTH]: 'needs login',
  [McpPeerState.FAILED]: 'failed',
  [McpPeerState.IDLE]: 'idle',
}
