import { isEditing, stopWriting } from '../cards/card.ts'
import { withKilledText } from '../text/prompt-state.ts'
import { isCurrent } from './pending-asks.ts'
import type { ChatState } from './types.ts'

/**
 * Takes the text of a call out of the composer when its question is no longer there to be answered, because Enter
 * would send it as a message, or run it if it begins with `!`. The kill ring keeps it.
 */
export function withoutLostEdit(before: ChatState, after: ChatState): ChatState {
  const edited = before.asks.find((card) => isEditing(card) && isCurrent(before, card))
  if (!edited) return after
  const open = after.asks.find(({ askId }) => askId === edited.askId)
  if (open && isCurrent(after, open)) return after
  const asks = after.asks.map((card) => (card === open ? stopWriting(card) : card))
  return { ...after, asks, prompt: withKilledText(after.prompt), hint: HINT }
}

const HINT = 'The question is no longer open; Ctrl+Y inserts what you edited'
