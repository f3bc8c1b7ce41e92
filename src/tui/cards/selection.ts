import type { KeyPress } from '../text/key.ts'

/** The selected choice of a card. Replaced, never mutated. */
export interface CardSelection {
  /** The selected row, counted from 0. */
  at: number
  /** The origin of the selection. Enter chooses nothing until the arrows or a digit have moved it. */
  by: 'card' | 'arrows' | 'digit'
  /** The digit typed on the card. It becomes text of the message when more text follows. */
  typed: string
}

/** The effect of a key on a selection. The keys of `text` go to the composer, after what was typed there. */
export type SelectionChange =
  | { type: 'moved'; pick: CardSelection; hint?: string }
  | { type: 'chosen' }
  | { type: 'text'; keys: readonly KeyPress[]; hint?: string }

interface SelectionContext {
  /** The digit of each row; 0 for a row without one. */
  digits: readonly number[]
  /** The initially selected row. */
  first: number
  isArmed: boolean
}

/** Creates the initial selection. */
export function newSelection(first: number): CardSelection {
  return { at: first, by: 'card', typed: '' }
}

/**
 * Handles a key on a selection while the composer is empty. Pure, and the same for every kind of card.
 *
 * A digit or the arrows select, Enter chooses the selected row. A digit and Enter count only when the card is
 * armed; so does the first arrow key, which leaves the selection in place. Enter before the card is armed
 * leaves a typed digit selected, and resets a selection by the arrows. All other keys go to the composer.
 */
export function pressSelection(
  pick: CardSelection,
  key: KeyPress,
  { digits, first, isArmed }: SelectionContext,
): SelectionChange {
  const isPlain = !key.ctrl && !key.alt && !key.shift
  if (isPlain && isArmed && pick.typed === '' && key.name === 'text') {
    const at = /^[1-9]$/.test(key.text) ? digits.indexOf(Number(key.text)) : -1
    if (at >= 0) return { type: 'moved', pick: { at, by: 'digit', typed: key.text } }
  }
  const step = STEPS.get(key.name)
  if (isPlain && step !== undefined && (isArmed || pick.by === 'arrows')) {
    const at = pick.by === 'card' ? pick.at : (pick.at + step + digits.length) % digits.length
    return { type: 'moved', pick: { at, by: 'arrows', typed: '' } }
  }
  if (isPlain && key.name === 'enter' && pick.by !== 'card') {
    if (isArmed) return { type: 'chosen' }
    if (pick.by === 'digit') return { type: 'moved', pick, hint: enterAgainHint(pick) }
    return { type: 'moved', pick: newSelection(first), hint: TOO_EARLY }
  }
  if (key.name === 'backspace' && pick.typed !== '') return { type: 'moved', pick: newSelection(first) }
  return { type: 'text', keys: [...typedKeys(pick), key] }
}

/** Returns the text typed on the card as keys for the composer. */
export function typedKeys({ typed }: CardSelection): KeyPress[] {
  return typed === '' ? [] : [{ name: 'text', text: typed, ctrl: false, alt: false, shift: false }]
}

const STEPS: ReadonlyMap<string, number> = new Map([
  ['up', -1],
  ['down', 1],
])

const TOO_EARLY = 'Enter came too soon to be an answer: select again, wait a moment, then press Enter'

/** The hint after an Enter that came too early to choose the row of a typed digit. */
export function enterAgainHint({ typed }: Pick<CardSelection, 'typed'>): string {
  return `Press Enter again to answer ${typed}`
}
