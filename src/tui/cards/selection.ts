import type { KeyPress } from '../text/key.ts'

/** The choice that is selected on a card. Replaced, never changed. */
export interface CardSelection {
  /** The row with the mark, counted from 0. */
  at: number
  /** The cause of the mark's place. Enter chooses nothing before the arrows or a digit did. */
  by: 'card' | 'arrows' | 'digit'
  /** The digit that was typed on the card: text of the message as soon as more text follows. */
  typed: string
}

/** The effect of a key on a selection; `text` keys are for the composer, behind what was typed before. */
export type SelectionChange =
  | { type: 'moved'; pick: CardSelection; hint?: string }
  | { type: 'chosen' }
  | { type: 'text'; keys: readonly KeyPress[]; hint?: string }

interface SelectionContext {
  /** The digit of each row; 0 for one that has none. */
  digits: readonly number[]
  /** The row that is selected before anything was pressed. */
  first: number
  isArmed: boolean
}

/** The selection before anything was pressed. */
export function newSelection(first: number): CardSelection {
  return { at: first, by: 'card', typed: '' }
}

/**
 * Handles a key on a selection over an empty composer. Pure, and the same for every kind of card.
 *
 * A digit selects, the arrows select, Enter chooses what they selected. A digit and Enter count only when the card is
 * armed; so does the first arrow, which leaves the mark where it is. Enter that comes too early makes text of the digit
 * and takes the selection back. Everything else is for the composer.
 */
export function pressSelection(
  pick: CardSelection,
  key: KeyPress,
  { digits, first, isArmed }: SelectionContext,
): SelectionChange {
  const isPlain = !key.ctrl && !key.alt && !key.shift
  const isFirst = pick.typed === '' || isForgotten(pick, isArmed)
  if (isPlain && isArmed && isFirst && key.name === 'text') {
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
    if (pick.by === 'digit') return { type: 'text', keys: typedKeys(pick), hint: TOO_EARLY_DIGIT }
    return { type: 'moved', pick: newSelection(first), hint: TOO_EARLY }
  }
  if (key.name === 'backspace' && pick.typed !== '') return { type: 'moved', pick: newSelection(first) }
  return { type: 'text', keys: [...(isForgotten(pick, isArmed) ? [] : typedKeys(pick)), key] }
}

/** Returns what was typed on the card as keys for the composer. */
export function typedKeys({ typed }: CardSelection): KeyPress[] {
  return typed === '' ? [] : [{ name: 'text', text: typed, ctrl: false, alt: false, shift: false }]
}

/** `?` has shown the details, and is text only where the rest of a sentence follows at once. */
function isForgotten({ typed }: CardSelection, isArmed: boolean): boolean {
  return typed === '?' && isArmed
}

const STEPS: ReadonlyMap<string, number> = new Map([
  ['up', -1],
  ['down', 1],
])

const TOO_EARLY = 'Enter came too soon to be an answer: select again, wait a moment, then press Enter'
const TOO_EARLY_DIGIT =
  'Enter came too soon to be an answer, so the digit is text: Backspace, the digit, a moment, Enter'
