import { armCard } from '../cards/card.ts'
import type { AskCard } from '../cards/types.ts'
import type { Overlay } from '../overlays/types.ts'
import type { ChatState } from './types.ts'

/** Who gets the keys. */
export type Focus =
  | { kind: 'nobody' }
  | { kind: 'overlay'; overlay: Overlay }
  | { kind: 'card'; card: AskCard }
  | { kind: 'prompt' }

/** Keys go to the overlay, else to the first question, once these have been seen; else to the prompt. */
export function focusOf({ isLent, overlay, isOverlayArmed, asks }: ChatState): Focus {
  const card = asks[0]
  if (isLent) return { kind: 'nobody' }
  if (overlay) return isOverlayArmed ? { kind: 'overlay', overlay } : { kind: 'prompt' }
  return card?.isArmed ? { kind: 'card', card } : { kind: 'prompt' }
}

/** Whether one key of it could do harm: then keys that come together count for nothing. */
export function isDelicate(focus: Focus): boolean {
  if (focus.kind === 'overlay') return focus.overlay.kind !== 'search' // its words are typed quickly
  if (focus.kind !== 'card' || focus.card.state.kind !== 'permission') return false
  return focus.card.state.reason === undefined // words of refusal are typed quickly
}

/** What stands on the screen and gets no keys yet. */
export function unarmed({
  isLent,
  overlay,
  isOverlayArmed,
  asks,
}: ChatState): 'overlay' | 'card' | undefined {
  if (isLent) return undefined
  if (overlay) return isOverlayArmed ? undefined : 'overlay'
  return asks[0] && !asks[0].isArmed ? 'card' : undefined
}

/** What stands there gets the keys from now on. */
export function arm(state: ChatState): ChatState {
  if (state.overlay) return { ...state, isOverlayArmed: true }
  return { ...state, asks: state.asks.map((card, at) => (at === 0 ? armCard(card) : card)) }
}

/** What stands there has to be seen before it gets keys again. */
export function disarm(state: ChatState): ChatState {
  const asks = state.asks.map((card) => (card.isArmed ? { ...card, isArmed: false } : card))
  return { ...state, isOverlayArmed: false, asks }
}
