import { formatCount, pluralize } from '../../core/base/format.ts'
import {
  type McpPeer,
  McpPeerState,
  type McpServerView,
  type McpView,
} from '../../core/protocol/crabtalk.generated.ts'
import type { Panel, PanelRow } from '../overlays/types.ts'
import type { SessionServerRow } from '../ports.ts'

/** The target of a row: one declaration, and through it the process it shares. */
export interface PanelTarget {
  agent: string
  name: string
  /** The file that gives the server to conversations; empty when it is not one of this window, absent for an agent's own. */
  file?: string
}

/**
 * Builds the panel of all MCP servers: a row for each process, and for each declaration without one; those of
 * this agent first.
 */
export function mcpPanel(
  view: McpView,
  {
    agent,
    selected = 0,
    note = '',
    session = [],
  }: { agent: string; selected?: number; note?: string; session?: readonly SessionServerRow[] },
): Panel {
  const groups = groupDeclarations(view)
  const peers = view.peers
    .filter((peer) => isInReach(peer, groups, session))
    .map((peer) => peerRow(peer, { declared: groups.get(peer.fingerprint) ?? [], agent, session }))
  const known = new Set(view.peers.map(({ fingerprint }) => fingerprint))
  const idle = [...groups].filter(([fingerprint]) => !known.has(fingerprint))
  const all = [...peers, ...idle.map(([, group]) => idleRow(group, agent))]
  const isOwn = ({ value }: PanelRow) => value.startsWith(`${agent}\n`)
  const files = session
    .filter((server) => !isConnected(server, view, agent))
    .map((server) => sessionRow(server, agent))
  const rows = [...all.filter(isOwn), ...files, ...all.filter((row) => !isOwn(row))]
  return {
    kind: 'panel',
    picker: 'mcp',
    title: formatPanelTitle(view),
    header: [
      'SERVER',
      'STATE',
      'AGENTS',
      'TOOLS',
      'CALLS',
      'ERRORS',
      'LATENCY',
      'TOKENS',
      'MEMORY',
      'COMMAND',
    ],
    rows,
    selected: Math.max(0, Math.min(selected, rows.length - 1)),
    keys: KEYS,
    note,
  }
}

/** Returns the open panel with a newer view: the cursor stays on its server, and a key that waits for a second press waits on. */
export function updatedPanel(
  open: Panel,
  view: McpView,
  { agent, session }: { agent: string; session: readonly SessionServerRow[] },
): Panel {
  const fresh = {
    ...mcpPanel(view, { agent, selected: open.selected, note: open.note, session }),
    noteOf: open.noteOf,
  }
  const value = open.rows[open.selected]?.value ?? ''
  const at = value === '' ? -1 : fresh.rows.findIndex((row) => row.value === value)
  if (at < 0) return fresh
  return { ...fresh, selected: at, ...(open.asked !== undefined && { asked: open.asked }) }
}

/** Parses the target of a row; undefined when the value does not belong to this panel. */
export function readTarget(value: string): PanelTarget | undefined {
  const [agent, name, file] = value.split('\n')
  if (agent === undefined || name === undefined) return undefined
  return { agent, name, ...(file !== undefined && { file }) }
}

const KEYS = [
  { key: 'v', label: 'view' },
  { key: 't', label: 'tools' },
  { key: 'r', label: 'restart' },
  { key: 'l', label: 'logs' },
  { key: 'i', label: 'log in' },
  { key: 'p', label: 'ping' },
  { key: 'd', label: 'disable', confirm: "disable it in the agent's file" },
  { key: 'e', label: 'enable' },
]
/** The keys of a server of a file, where `d` only says what to do. */
const FILE_KEYS = KEYS.map(({ key, label }) => ({ key, label }))

function formatPanelTitle({ peers, agents }: McpView): string {
  const owners = new Set(agents.filter(({ servers }) => servers.length > 0).map(({ agent }) => agent))
  const running = peers.filter(({ state }) => state === McpPeerState.CONNECTED).length
  return `MCP servers: ${pluralize(running, 'connection')}, ${pluralize(owners.size, 'agent')}`
}

/** A declaration with its agent. */
interface AgentDeclaration extends McpServerView {
  agent: string
}

/** Groups declarations by the connection they share; an invalid one is a group of its own. */
function groupDeclarations({ agents }: McpView): Map<string, AgentDeclaration[]> {
  const servers = agents.flatMap(({ agent, servers: own }) => own.map((server) => ({ ...server, agent })))
  return Map.groupBy(servers, ({ fingerprint, agent, name }) => fingerprint || `${agent}\n${name}`)
}

/** Whether a connection is of agents, or of files of this window: those of other projects are not shown. */
function isInReach(
  { fingerprint, owners }: McpPeer,
  groups: ReadonlyMap<string, unknown>,
  session: readonly SessionServerRow[],
): boolean {
  if (groups.has(fingerprint) || owners.length === 0) return true
  return owners.some(({ file }) => file === undefined || session.some((server) => server.file === file))
}

interface PeerContext {
  declared: readonly AgentDeclaration[]
  agent: string
  session: readonly SessionServerRow[]
}

function peerRow(peer: McpPeer, { declared, agent, session }: PeerContext): PanelRow {
  const { calls, errors, latencyMs, schemaTokens, memoryBytes, toolCount } = peer
  const owners = [...declared, ...peer.owners]
  const own = pickTarget(peer, { declared, agent, session })
  return {
    value: own ? toValue(own) : '',
    ...(own?.file !== undefined && { keys: FILE_KEYS }),
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
    problem: pickDeclaration(declared, agent)?.error || peer.error, // that of a declaration names what to run
  }
}

/** Returns the server to act on: this agent's, then one of a file of this window, then another agent's. */
function pickTarget({ owners }: McpPeer, { declared, agent, session }: PeerContext): PanelTarget | undefined {
  const own = pickDeclaration(declared, agent)
  if (own?.agent === agent) return own
  const server = session.find(({ name, file }) => owners.some((one) => isOwnedBy(one, { agent, name, file })))
  if (server) return { agent, name: server.name, file: server.file }
  const other = own ?? pickDeclaration(owners, agent)
  return other && { agent: other.agent, name: other.name, ...(!own && { file: '' }) }
}

/**
 * Describes the state of a connection. One that this agent has disabled may still run for other agents, or
 * for a turn that started before.
 */
function describePeerState({ state }: McpPeer, own: AgentDeclaration | undefined): string {
  if (own?.state !== McpPeerState.DISABLED) return stateName(state)
  return state === McpPeerState.CONNECTED ? 'disabled, running' : 'disabled'
}

/** Whether a server of a file has a connection, which has a row already. */
function isConnected({ name, state, file }: SessionServerRow, { peers }: McpView, agent: string): boolean {
  return (
    state === 'ready' &&
    peers.some(({ owners }) => owners.some((one) => isOwnedBy(one, { agent, name, file })))
  )
}

/** Whether an owner is a server of a file here, and not one of that name in another project. */
function isOwnedBy(
  owner: McpPeer['owners'][number],
  { agent, name, file }: PanelTarget & { file: string },
): boolean {
  return owner.agent === agent && owner.name === name && (owner.file === undefined || owner.file === file)
}

/** Renders a server that a file gives to conversations here. */
function sessionRow({ name, state, file, problem }: SessionServerRow, agent: string): PanelRow {
  const cells = [
    ...[name, state === 'ready' ? 'idle' : state, 'this directory'],
    ...['-', '-', '-', '-', '-', '-', file],
  ]
  return { value: toValue({ agent, name, file }), cells, problem, keys: FILE_KEYS }
}

/** Renders declarations without a connection: disabled, invalid, or never needed so far. */
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

/** Returns the declaration to act on: this agent's if it has one, otherwise the first. */
function pickDeclaration<D extends Pick<PanelTarget, 'agent' | 'name'>>(
  declared: readonly D[],
  agent: string,
): D | undefined {
  return declared.find((one) => one.agent === agent) ?? declared[0]
}

function ownersText(agents: readonly string[]): string {
  const names = [...new Set(agents)]
  return names.length <= 1 ? (names[0] ?? 'no agent') : `${names.length} agents`
}

function toValue({ agent, name, file }: PanelTarget): string {
  return [agent, name, ...(file === undefined ? [] : [file])].join('\n')
}

function stateName(state: McpPeerState): string {
  return STATES[state] ?? 'unknown'
}

const STATES: Readonly<Record<number, string>> = {
  [McpPeerState.DISABLED]: 'disabled',
  [McpPeerState.INVALID]: 'invalid',
  [McpPeerState.CONNECTING]: 'connecting',
  [McpPeerState.CONNECTED]: 'connected',
  [McpPeerState.NEEDS_AUTH]: 'needs_auth',
  [McpPeerState.FAILED]: 'failed',
  [McpPeerState.IDLE]: 'idle',
}

/** Formats a number of bytes with a decimal unit. */
function byteText(bytes: number): string {
  const [size, unit] = bytes < 1e6 ? [1e3, 'kB'] : bytes < 1e9 ? [1e6, 'MB'] : [1e9, 'GB']
  return `${(bytes / size).toFixed(bytes < 10 * size ? 1 : 0)} ${unit}`
}
