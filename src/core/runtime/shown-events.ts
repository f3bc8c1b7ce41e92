import { CLASS_RIGHTS } from '../policy/class-rights.ts'
import type { Trust } from '../policy/types.ts'
import type { AgentEvent } from './events.ts'

/** Leaves out what a turn of a class is not told: where that is its own conversation only, states of servers and other notices. */
export async function* shownEvents(
  events: AsyncIterable<AgentEvent>,
  trust: Trust,
): AsyncGenerator<AgentEvent> {
  const isLimited = CLASS_RIGHTS[trust].notices === 'own'
  for await (const event of events) {
    const isOfOthers = event.type === 'mcp-state' || (event.type === 'notice' && !event.isOwn)
    if (!isLimited || !isOfOthers) yield event
  }
}
