import type { KeyPress } from '../text/key.ts'

/** The selected choice of a card. Replaced, never mutated. */
export interface CardSelection {
  /** The selected row, counted from 0. */
  at: number
  /**
   * The origin of the selection. Enter chooses nothing until something else than the card has moved it. A digit
   * of the `draft` was typed before keys counted on the card.
   */
  by: 'card' | 'arrows' | 'digit' | 'draft'
  /** The digit typed on the card. It becomes text of the message when more text follows. */
  typed: string
  /**
   * Whether Enter was pressed too early for a choice that allows something lasting: it counts as soon as the card is
   * armed, unless another key comes first.
   */
  isEntered: boolean
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
  /** Whether the selected row allows something that lasts, so that it takes a pause. */
  isLasting: boolean
}

/** Creates the initial selection. */
export function newSelection(first: number): CardSelection {
  return { at: first, by: 'card', typed: '', isEntered: false }
}

/**
 * Handles a key on a selection while the composer is empty. Pure, and the same for every kind of card.
 *
 * A digit or the arrows select, Enter chooses the selected row. A digit and Enter count only when the card is
 * armed; so does the first arrow key, which leaves the selection in place. Enter right after a digit chooses
 * immediately, or once the card is armed again if the row allows something lasting. Enter right after the arrows must
 * be pressed again. All other keys go to the composer. (ADR 0204)
 */
export function pressSelection(
  pick: CardSelection,
  key: KeyPress,
  { digits, first, isArmed, isLasting }: SelectionContext,
): SelectionChange {
  const isPlain = !key.ctrl && !key.alt && !key.shift
  if (isPlain && isArmed && pick.typed === '' && key.name === 'text') {
    const at = /^[1-9]$/.test(key.text) ? digits.indexOf(Number(key.text)) : -1
    if (at >= 0) return { type: 'moved', pick: { at, by: 'digit', typed: key.text, isEntered: false } }
  }
  const step = STEPS.get(key.name)
  if (isPlain && step !== undefined && (isArmed || pick.by === 'arrows')) {
    const at = pick.by === 'card' ? pick.at : (pick.at + step + digits.length) % digits.length
    return { type: 'moved', pick: { ...newSelection(at), by: 'arrows' } }
  }
  if (isPlain && key.name === 'enter' && pick.by !== 'card') {
    if (isArmed || (pick.by === 'digit' && !isLasting)) return { type: 'chosen' }
    if (pick.by === 'digit') return { type: 'moved', pick: { ...pick, isEntered: true } }
    return { type: 'moved', pick, hint: enterAgainHint(digits[pick.at]) }
  }
  if (isPlain && key.name === 'tab' && pick.by !== 'card') return { type: 'moved', pick } // no text to queue
  if (key.name === 'backspace' && pick.typed !== '') return { type: 'moved', pick: newSelection(first) }
  return { type: 'text', keys: [...typedKeys(pick), key] }
}

/** Returns the text typed on the card as keys for the composer. A digit that Enter followed was meant as an answer. */
export function typedKeys({ typed, by, isEntered }: CardSelection): KeyPress[] {
  return typed === '' || by === 'draft' || isEntered
    ? []
    : [{ name: 'text', text: typed, ctrl: false, alt: false, shift: false }]
}

const STEPS: ReadonlyMap<string, number> = new Map([
  ['up', -1],
  ['down', 1],
])

/** The hint after an Enter that came too early to choose the row of a digit; a row without one has 0. */
export function enterAgainHint(digit = 0): string {
  return `Press Enter again to answer${digit === 0 ? '' : ` ${digit}`}`
}

/** Describes what happens next after an early Enter. */
export function describeEntered({ typed }: Pick<CardSelection, 'typed'>): string {
  return `Answering ${typed} · any other key cancels it`
}
