import { armCard } from '../cards/card.ts'
import type { AskCard } from '../cards/types.ts'
import type { Overlay, Panel } from '../overlays/types.ts'
import { shownAsk } from './pending-asks.ts'
import type { ChatState } from './types.ts'

/**
 * The part of the screen that gets the keys. A question never has the focus: its card takes only digits and
 * arrows, which the empty composer does not use.
 */
export type Focus = { kind: 'none' } | { kind: 'overlay'; overlay: Overlay } | { kind: 'prompt' }

/** Returns the part that gets the keys: the overlay once it has been drawn, otherwise the composer. */
export function getFocus({ isLent, overlay, isOverlayArmed }: ChatState): Focus {
  if (isLent) return { kind: 'none' }
  return overlay && isOverlayArmed ? { kind: 'overlay', overlay } : { kind: 'prompt' }
}

/** Whether a single key can do harm there. Keys that arrive together are then ignored. */
export function isDelicate(focus: Focus): boolean {
  return focus.kind === 'overlay' && !TYPED.has(focus.overlay.kind)
}

/** The overlays into which text is typed quickly, or pasted by a terminal that does not mark a paste. */
const TYPED: ReadonlySet<string> = new Set(['search', 'entry'])

/** Whether an overlay is on the screen but does not get keys yet. */
export function hasUnarmedOverlay({ isLent, overlay, isOverlayArmed }: ChatState): boolean {
  return !isLent && overlay !== undefined && !isOverlayArmed
}

/**
 * Returns the visible card, which belongs to the first question of this conversation; undefined while
 * something covers it.
 */
export function getVisibleCard(state: ChatState): AskCard | undefined {
  return state.isLent || state.overlay ? undefined : shownAsk(state)
}

/** Gives the keys to the overlay. */
export function armOverlay(state: ChatState): ChatState {
  return state.overlay ? { ...state, isOverlayArmed: true } : state
}

/** Takes the keys from the overlay until it has been drawn again. */
export function disarmOverlay(state: ChatState): ChatState {
  return { ...state, isOverlayArmed: false }
}

/** Lets keys choose options on the card of this question and on no other; undefined: on no card. */
export function withArmed(state: ChatState, askId: string | undefined): ChatState {
  const asks = state.asks.map((card) => armCard(card, card.askId === askId))
  return asks.every((card, at) => card === state.asks[at]) ? state : { ...state, asks }
}

/** Returns the open panel of MCP servers. */
export function getServerPanel({ overlay }: Pick<ChatState, 'overlay'>): Panel | undefined {
  return overlay?.kind === 'panel' && overlay.picker === 'mcp' ? overlay : undefined
}
