import type { Log } from '../base/log.ts'
import { CLASS_RIGHTS } from '../policy/class-rights.ts'
import type { Trust } from '../policy/types.ts'
import type { AgentEvent } from './events.ts'
import { shownError } from './shown-error.ts'

/**
 * Filters the events of a turn for its trust class: a class that sees only its own notices gets no server
 * states and no notices that are not about the conversation. Errors pass through shownError().
 */
export async function* shownEvents(
  events: AsyncIterable<AgentEvent>,
  trust: Trust,
  log: Log,
): AsyncGenerator<AgentEvent> {
  const isLimited = CLASS_RIGHTS[trust].notices === 'own'
  for await (const event of events) {
    const isOfOthers = event.type === 'mcp-state' || (event.type === 'notice' && !event.isOwn)
    if (isLimited && isOfOthers) continue
    const hasError = (event.type === 'retry' || event.type === 'end') && event.error !== undefined
    yield hasError ? { ...event, error: shownError(event.error!, trust, log) } : event
  }
}
