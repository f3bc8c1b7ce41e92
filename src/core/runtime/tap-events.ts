import { CrabError } from '../base/errors.ts'
import type { AgentEvent } from './events.ts'
import type { Hook } from './hook.ts'

/**
 * Passes every event of a turn to a hook. When the consumer leaves early, the hook still gets the end events
 * of the turn and of its open questions.
 */
export async function* tapEvents(
  hook: Pick<Hook, 'onEvent'>,
  { agent, session }: { agent: string; session: string },
  events: AsyncGenerator<AgentEvent>,
): AsyncGenerator<AgentEvent> {
  const tell = (event: AgentEvent) => hook.onEvent?.(agent, session, event)
  const open = new Set<string>()
  let last: AgentEvent | undefined
  try {
    for await (const event of events) {
      if (event.type === 'ask') open.add(event.ask.id)
      if (event.type === 'ask-closed') open.delete(event.askId)
      last = event
      tell(event)
      yield event
    }
  } finally {
    if (last !== undefined && last.type !== 'end') {
      for (const askId of open) tell({ type: 'ask-closed', askId, by: 'cancelled', answers: undefined })
      tell(leftEarly(agent))
    }
  }
}

function leftEarly(agent: string): AgentEvent {
  const error = new CrabError('cancelled', 'Cancelled: the client left')
  const nothing = { usage: undefined, turns: 0, costUsd: undefined }
  return { type: 'end', agent, model: '', stopReason: 'cancelled', error, ...nothing }
}
