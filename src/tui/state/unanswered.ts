import { isCurrent } from './is-current.ts'
import type { ChatState } from './types.ts'

/** The questions of the conversation on the screen that had no answer when the chat was left, oldest first. */
export interface Unanswered {
  agent: string
  sender: string
  /** At least one. */
  askIds: readonly string[]
  /** Whether the questions go on waiting in a daemon. Without one they end with the chat, as its turn does. */
  isWaiting: boolean
}

/** Lists the questions that leaving leaves without an answer; undefined when there are none, or their daemon is gone. */
export function unansweredAsks(state: ChatState): Unanswered | undefined {
  const { agent, sender, place, isLinkLost } = state
  const open = state.asks.filter((card) => isCurrent(state, card) && !card.isAnswered)
  if (open.length === 0 || isLinkLost) return undefined
  return { agent, sender, askIds: open.map(({ askId }) => askId), isWaiting: place === 'daemon' }
}
