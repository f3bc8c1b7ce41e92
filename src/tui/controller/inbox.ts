import { shownTitle } from '../../core/base/auto-title.ts'
import { AgentEventKind, type AgentEventMsg } from '../../core/protocol/crabtalk.generated.ts'
import { request, requestMany } from '../../core/protocol/dispatch.ts'
import type { ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'

interface InboxOptions {
  store: ChatStore
  ports: Pick<ChatPorts, 'dispatch'>
}

/**
 * Shows the pending questions and the running turns of all other conversations until the signal aborts or the
 * connection is lost. Those of the shown conversation arrive with its own events.
 */
export async function watchOthers({ store, ports }: InboxOptions, signal: AbortSignal): Promise<void> {
  const kinds = [...ASK_KINDS, ...TURN_KINDS]
  const events = requestMany(ports.dispatch, 'subscribeEvents', { kinds }, signal)
  let pending = events.next()
  pending.catch(() => undefined) // it is awaited below
  const isElsewhere = (one: { agent: string; sender: string }) => {
    const { agent, sender } = store.get()
    return one.agent !== agent || one.sender !== sender
  }
  const { asks } = await request(ports.dispatch, 'listAsks', {}, signal)
  store.act({ type: 'asks-listed', asks: asks.filter(isElsewhere), of: 'elsewhere' })
  await listRunning({ store, ports }, signal)
  for (let item = await pending; !item.done; item = await pending) {
    pending = events.next()
    pending.catch(() => undefined) // it is awaited in the next round
    const { kind, ask, askClosed } = item.value
    if (TURN_KINDS.includes(kind)) takeTurn(store, item.value)
    if (kind === AgentEventKind.ASK_OPENED && ask && isElsewhere(ask)) {
      store.act({ type: 'ask-opened', ask })
      await listRunning({ store, ports }, signal) // they have the title of its conversation
    }
    if (kind === AgentEventKind.ASK_CLOSED && askClosed && isElsewhere(item.value)) {
      store.act({ type: 'ask-closed', closed: askClosed })
    }
  }
}

const ASK_KINDS: readonly AgentEventKind[] = [AgentEventKind.ASK_OPENED, AgentEventKind.ASK_CLOSED]
const TURN_KINDS: readonly AgentEventKind[] = [
  AgentEventKind.TURN_STARTED,
  AgentEventKind.TURN_FAILED,
  AgentEventKind.DONE,
]

/** Replaces the known turns with the running ones. */
async function listRunning({ store, ports }: InboxOptions, signal: AbortSignal): Promise<void> {
  const { conversations } = await request(ports.dispatch, 'listActiveConversations', {}, signal)
  const running = conversations.map(({ agent, sender, runId, ...more }) => {
    return { agent, sender, runId, name: shownTitle(more) }
  })
  store.act({ type: 'running-listed', running: running.filter(({ runId }) => runId !== '') })
}

function takeTurn(store: ChatStore, { kind, agent, sender, runId }: AgentEventMsg): void {
  if (kind === AgentEventKind.TURN_STARTED)
    store.act({ type: 'run-started', run: { agent, sender, runId, name: '' } })
  else store.act({ type: 'run-ended', runId })
}
