import { isCurrent } from './is-current.ts'
import type { ChatState } from './types.ts'

/** The questions of the shown conversation that had no answer when the user left the chat, oldest first. */
export interface Unanswered {
  agent: string
  sender: string
  /** At least one. */
  askIds: readonly string[]
  /** Whether the questions stay pending in a daemon. Without one they end with the chat, as its turn does. */
  isWaiting: boolean
}

/**
 * Collects the questions that are unanswered when the user leaves; undefined when there are none or the
 * daemon is gone.
 */
export function unansweredAsks(state: ChatState): Unanswered | undefined {
  const { agent, sender, place, isLinkLost } = state
  const open = state.asks.filter((card) => isCurrent(state, card) && !card.isAnswered)
  if (open.length === 0 || isLinkLost) return undefined
  return { agent, sender, askIds: open.map(({ askId }) => askId), isWaiting: place === 'daemon' }
}
