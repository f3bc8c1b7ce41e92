import {
  type McpPeer,
  McpPeerState,
  type McpServerView,
  type McpView,
} from '../../core/protocol/crabtalk.generated.ts'
import type { Panel, PanelRow } from '../overlays/types.ts'
import { formatCount, plural } from '../view/numbers.ts'
import { byteText } from './numbers.ts'

/** What a row of the panel acts on: one declaration, and through it the process it shares. */
export interface PanelTarget {
  agent: string
  name: string
}

/** The panel of all MCP servers: a row for each process, and for what is declared and has none. */
export function mcpPanel(
  view: McpView,
  { agent, selected = 0, note = '' }: { agent: string; selected?: number; note?: string },
): Panel {
  const groups = groupDeclarations(view)
  const peers = view.peers.map((peer) => peerRow(peer, groups.get(peer.fingerprint) ?? [], agent))
  const known = new Set(view.peers.map(({ fingerprint }) => fingerprint))
  const idle = [...groups].filter(([fingerprint]) => !known.has(fingerprint))
  const rows = [...peers, ...idle.map(([, group]) => idleRow(group, agent))]
  return {
    kind: 'panel',
    picker: 'mcp',
    title: formatPanelTitle(view),
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
export function readTarget(value: string): PanelTarget | undefined {
  const [agent, name] = value.split('\n')
  return agent !== undefined && name !== undefined ? { agent, name } : undefined
}

const KEYS = [
  { key: 't', label: 'tools' },
  { key: 'r', label: 'restart' },
  { key: 'l', label: 'logs' },
  { key: 'p', label: 'ping' },
  { key: 'd', label: 'disable', asksAgain: "disables it in the agent's file" },
  { key: 'e', label: 'enable' },
]

function formatPanelTitle({ peers, agents }: McpView): string {
  const owners = new Set(agents.filter(({ servers }) => servers.length > 0).map(({ agent }) => agent))
  const running = peers.filter(({ state }) => state === McpPeerState.CONNECTED).length
  return `MCP servers: ${plural(running, 'connection')}, ${plural(owners.size, 'agent')}`
}

/** A declaration, with the agent whose it is. */
interface AgentDeclaration extends McpServerView {
  agent: string
}

/** Declarations by the connection they share; one that cannot be used stands alone. */
function groupDeclarations({ agents }: McpView): Map<string, AgentDeclaration[]> {
  const servers = agents.flatMap(({ agent, servers: own }) => own.map((server) => ({ ...server, agent })))
  return Map.groupBy(servers, ({ fingerprint, agent, name }) => fingerprint || `${agent}\n${name}`)
}

function peerRow(peer: McpPeer, declared: readonly AgentDeclaration[], agent: string): PanelRow {
  const { calls, errors, latencyMs, schemaTokens, memoryBytes, toolCount } = peer
  const owners = [...declared, ...peer.owners]
  const own = pickDeclaration(declared, agent) ?? pickDeclaration(peer.owners, agent)
  return {
    value: own ? toValue(own) : '',
    cells: [
      [...new Set(owners.map(({ name }) => name))].join(', '),
      describePeerState(peer, pickDeclaration(declared, agent)),
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

/** Others may keep a connection that this agent has disabled; so does the turn that began before. */
function describePeerState({ state }: McpPeer, own: AgentDeclaration | undefined): string {
  if (own?.state !== McpPeerState.DISABLED) return stateName(state)
  return state === McpPeerState.CONNECTED ? 'disabled, runs' : 'disabled'
}

/** Declarations without a connection: those that are disabled, cannot be used, or were never needed. */
function idleRow(group: readonly AgentDeclaration[], agent: string): PanelRow {
  const own = pickDeclaration(group, agent)!
  const tools = own.listed ? String(own.tools.filter(({ hidden }) => hidden === '').length) : '-'
  const owners = ownersText(group.map((one) => one.agent))
  return {
    value: toValue(own),
    cells: [own.name, stateName(own.state), owners, tools, '-', '-', '-', '-', '-', own.source],
    problem: own.error,
  }
}

/** The declaration that is acted on: this agent's, or else somebody's. */
function pickDeclaration<D extends PanelTarget>(declared: readonly D[], agent: string): D | undefined {
  return declared.find((one) => one.agent === agent) ?? declared[0]
}

function ownersText(agents: readonly string[]): string {
  const names = [...new Set(agents)]
  return names.length <= 1 ? (names[0] ?? 'nobody') : `${names.length} agents`
}

function toValue({ agent, name }: PanelTarget): string {
  return `${agent}\n${name}`
}

/** A state in words. */
function stateName(state: McpPeerState): string {
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
