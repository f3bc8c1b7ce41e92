import { armCard } from '../cards/card.ts'
import type { AskCard } from '../cards/types.ts'
import type { Overlay } from '../overlays/types.ts'
import { shownAsk } from './is-current.ts'
import type { ChatState } from './types.ts'

/** The part of the screen that gets the keys. A question never does: its card takes digits and arrows that the empty composer has no use for. */
export type Focus = { kind: 'nobody' } | { kind: 'overlay'; overlay: Overlay } | { kind: 'prompt' }

/** Keys go to the overlay once it has been seen, else to the composer. */
export function getFocus({ isLent, overlay, isOverlayArmed }: ChatState): Focus {
  if (isLent) return { kind: 'nobody' }
  return overlay && isOverlayArmed ? { kind: 'overlay', overlay } : { kind: 'prompt' }
}

/** Whether one key of it could do harm: then keys that come together count for nothing. */
export function isDelicate(focus: Focus): boolean {
  return focus.kind === 'overlay' && focus.overlay.kind !== 'search' // the words of a search are typed quickly
}

/** Whether an overlay is on the screen that gets no keys yet. */
export function hasUnarmedOverlay({ isLent, overlay, isOverlayArmed }: ChatState): boolean {
  return !isLent && overlay !== undefined && !isOverlayArmed
}

/** The card that is on the screen: of the first question of this conversation, while nothing covers it. */
export function getVisibleCard(state: ChatState): AskCard | undefined {
  return state.isLent || state.overlay ? undefined : shownAsk(state)
}

/** The overlay gets the keys from now on. */
export function armOverlay(state: ChatState): ChatState {
  return state.overlay ? { ...state, isOverlayArmed: true } : state
}

/** The overlay has to be seen before it gets keys again. */
export function disarmOverlay(state: ChatState): ChatState {
  return { ...state, isOverlayArmed: false }
}

/** The state with a card on which keys choose, or do not; no other card has such keys. */
export function withArmed(state: ChatState, askId: string | undefined): ChatState {
  const asks = state.asks.map((card) => armCard(card, card.askId === askId))
  return asks.every((card, at) => card === state.asks[at]) ? state : { ...state, asks }
}
