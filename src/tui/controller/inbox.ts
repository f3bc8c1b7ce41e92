import { AgentEventKind } from '../../core/protocol/crabtalk.generated.ts'
import { request, requestMany } from '../../core/protocol/dispatch.ts'
import type { ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'

/**
 * Shows the pending questions of all other conversations until the signal aborts or the connection is lost.
 * The questions of the shown conversation arrive with its own events.
 */
export async function watchAsks(
  { store, ports: { dispatch } }: { store: ChatStore; ports: Pick<ChatPorts, 'dispatch'> },
  signal: AbortSignal,
): Promise<void> {
  const kinds = [AgentEventKind.ASK_OPENED, AgentEventKind.ASK_CLOSED]
  const events = requestMany(dispatch, 'subscribeEvents', { kinds }, signal)
  let pending = events.next()
  pending.catch(() => undefined) // it is awaited below
  const { asks } = await request(dispatch, 'listAsks', {}, signal)
  const isElsewhere = (one: { agent: string; sender: string }) => {
    const { agent, sender } = store.get()
    return one.agent !== agent || one.sender !== sender
  }
  store.act({ type: 'asks-listed', asks: asks.filter(isElsewhere), of: 'elsewhere' })
  for (let item = await pending; !item.done; item = await pending) {
    const { kind, ask, askClosed } = item.value
    if (kind === AgentEventKind.ASK_OPENED && ask && isElsewhere(ask)) store.act({ type: 'ask-opened', ask })
    if (kind === AgentEventKind.ASK_CLOSED && askClosed && isElsewhere(item.value)) {
      store.act({ type: 'ask-closed', closed: askClosed })
    }
    pending = events.next()
  }
}
