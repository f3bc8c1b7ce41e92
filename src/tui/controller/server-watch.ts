import { type McpPeer, McpPeerState, type McpView } from '../../core/protocol/crabtalk.generated.ts'
import { request, requestMany } from '../../core/protocol/dispatch.ts'
import type { ChatPorts, SessionServerRow } from '../ports.ts'
import { getServerPanel } from '../state/focus.ts'
import type { ChatStore } from '../state/store.ts'
import type { ChatState } from '../state/types.ts'

interface WatchOptions {
  store: ChatStore
  ports: Pick<ChatPorts, 'dispatch' | 'servers'>
  /** The agent whose servers the status line counts. */
  agent: string
}

/**
 * Keeps the states of the agent's MCP servers current until the signal aborts or the connection is lost, and the
 * panel of all servers while it is open. Throws the error of the subscription.
 */
export async function watchServers(options: WatchOptions, signal: AbortSignal): Promise<void> {
  const { store, ports, agent } = options
  const { mcps } = await request(ports.dispatch, 'getAgent', { name: agent }, signal)
  const hasServers = mcps.length > 0 || (await ports.servers.list()).length > 0
  if (!hasServers) store.act({ type: 'set', change: { servers: new Map() } })
  let timer: ReturnType<typeof setTimeout> | undefined
  const lookIn = (ms: number) => {
    timer ??= setTimeout(() => {
      timer = undefined
      look(options, signal).then(lookWhileOpen, () => undefined) // a lost connection ends the subscription, too
    }, ms)
  }
  const lookWhileOpen = () => {
    if (getServerPanel(store.get())) lookIn(PANEL_MS)
  }
  const stop = store.subscribe(lookWhileOpen)
  try {
    const events = requestMany(ports.dispatch, 'subscribeMcpEvents', {}, signal)
    const first = events.next()
    first.catch(() => undefined) // it is awaited below
    if (hasServers) await look(options, signal)
    for (let event = await first; !event.done; event = await events.next()) lookIn(COLLECT_MS)
  } finally {
    stop()
    clearTimeout(timer)
  }
}

/** The time, in milliseconds, in which events are collected before the servers are read again. */
const COLLECT_MS = 100
/** The interval, in milliseconds, at which an open panel is updated: calls and memory have no events. */
const PANEL_MS = 1_000

async function look({ store, ports, agent }: WatchOptions, signal: AbortSignal): Promise<void> {
  const isOpen = getServerPanel(store.get()) !== undefined
  const view = await request(ports.dispatch, 'mcpView', isOpen ? {} : { agent }, signal)
  const session = await ports.servers.list()
  const servers = countedServers(view, agent, session)
  if (!isSame(servers, store.get().servers)) store.act({ type: 'set', change: { servers } })
  if (!isOpen) return
  const { updatedPanel } = await import('../slash/mcp-panel.ts')
  const panel = getServerPanel(store.get())
  if (!panel || signal.aborted) return
  const overlay = updatedPanel(panel, view, { agent: store.get().agent, session })
  store.act({ type: 'set', change: { overlay } })
}

/** Returns the servers that the agent may use in this window, by name: those of its file, and those of other files. */
function countedServers(
  { agents, peers }: McpView,
  agent: string,
  session: readonly SessionServerRow[],
): ChatState['servers'] {
  const own = agents.find((one) => one.agent === agent)?.servers ?? []
  const enabled = own.filter(({ state }) => state !== McpPeerState.DISABLED)
  const isHere = ({ owners }: McpPeer, { name, file }: SessionServerRow) =>
    owners.some(
      (one) => one.agent === agent && one.name === name && (one.file === undefined || one.file === file),
    )
  const used = session.filter(
    ({ name, state }) => (state === 'ready' || state === 'invalid') && own.every((one) => one.name !== name),
  )
  return new Map([
    ...enabled.map(({ name, state }) => [name, toServerState(state)] as const),
    ...used.map((server) => {
      const { name, state } = server
      const peer = peers.find((one) => isHere(one, server))
      return [name, state === 'invalid' ? 'failed' : toServerState(peer?.state)] as const
    }),
  ])
}

type ServerState = NonNullable<ReturnType<ChatState['servers']['get']>>

function toServerState(state: McpPeerState | undefined): ServerState {
  return STATES.get(state ?? McpPeerState.UNSPECIFIED) ?? 'disconnected'
}

const STATES: ReadonlyMap<McpPeerState, ServerState> = new Map([
  [McpPeerState.CONNECTING, 'connecting'],
  [McpPeerState.CONNECTED, 'connected'],
  [McpPeerState.INVALID, 'failed'],
  [McpPeerState.NEEDS_AUTH, 'failed'],
  [McpPeerState.FAILED, 'failed'],
])

function isSame(one: ChatState['servers'], other: ChatState['servers']): boolean {
  return one.size === other.size && [...one].every(([name, state]) => other.get(name) === state)
}
