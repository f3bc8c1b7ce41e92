import { AgentEventKind } from '../../core/protocol/crabtalk.generated.ts'
import { request, requestMany } from '../../core/protocol/dispatch.ts'
import type { ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'

/**
 * Shows the questions of all other conversations as long as they wait, until the signal aborts or the agents are gone.
 * Those of the conversation that is shown come with it.
 */
export async function watchAsks(
  { store, ports: { dispatch } }: { store: ChatStore; ports: Pick<ChatPorts, 'dispatch'> },
  signal: AbortSignal,
): Promise<void> {
  const kinds = [AgentEventKind.ASK_OPENED, AgentEventKind.ASK_CLOSED]
  const events = requestMany(dispatch, 'subscribeEvents', { kinds }, signal)
  let next = events.next()
  next.catch(() => undefined) // it is awaited below
  const { asks } = await request(dispatch, 'listAsks', {}, signal)
  const isElsewhere = (one: { agent: string; sender: string }) => {
    const { agent, sender } = store.get()
    return one.agent !== agent || one.sender !== sender
  }
  store.act({ type: 'asks-listed', asks: asks.filter(isElsewhere), of: 'elsewhere' })
  for (let told = await next; !told.done; told = await next) {
    const { kind, ask, askClosed } = told.value
    if (kind === AgentEventKind.ASK_OPENED && ask && isElsewhere(ask)) store.act({ type: 'ask-opened', ask })
    if (kind === AgentEventKind.ASK_CLOSED && askClosed && isElsewhere(told.value)) {
      store.act({ type: 'ask-closed', closed: askClosed })
    }
    next = events.next()
  }
}
