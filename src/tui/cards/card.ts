import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { hasFixedChoices } from '../../core/questions/answer-kinds.ts'
import { findEscAction } from '../text/esc-key.ts'
import type { KeyPress } from '../text/key.ts'
import { memoizeLast } from '../view/memoize-last.ts'
import type { Section } from '../view/section.ts'
import { answerWithText, pressForm, scrollForm } from './form.ts'
import { listRowDigits, newForm } from './form-fields.ts'
import { renderForm } from './form-view.ts'
import {
  answerWithReason,
  listPermissionDigits,
  newPermission,
  pressPermission,
  scrollPermission,
  withDetails,
} from './permission.ts'
import { renderPermission } from './permission-view.ts'
import { newSelection, typedKeys } from './selection.ts'
import type { AskCard, CardKeyResult, CardScroll, CardView } from './types.ts'

/** Creates the card of a new question. Nothing can be chosen on it until it is armed. */
export function openCard(ask: AskUserEvent, pair: AskCard['pair']): AskCard {
  const state = hasFixedChoices(ask) ? newPermission({ ask }) : newForm(ask.questions)
  return {
    askId: ask.askId,
    agent: pair.agent,
    pair,
    ask,
    isAnswered: false,
    isArmed: false,
    wasArmed: false,
    state,
    content: memoizeLast(),
  }
}

/** Arms or disarms a card; keys choose only on an armed one. */
export function armCard(card: AskCard, isArmed = true): AskCard {
  return card.isArmed === isArmed || card.isAnswered
    ? card
    : { ...card, isArmed, wasArmed: card.wasArmed || isArmed }
}

/**
 * Handles a key on the card above the composer. Page Up, Page Down, Home and End scroll the card; digits, arrows and
 * Enter choose when the composer is empty and the key arrived alone. All other keys go to the composer, and
 * so does text.
 */
export function pressCard(
  before: AskCard,
  key: KeyPress,
  { view, isAlone }: { view: CardView; isAlone: boolean },
): CardKeyResult {
  const card = key.name === 'enter' ? before : forgetEnter(before)
  const { state, ask } = card
  const scroll = SCROLLS.get(key.name)
  if (scroll !== undefined && isAlone && (view.isFree || typeof scroll === 'number')) {
    if (state.kind === 'form') return scrollForm({ card, state }, scroll, view)
    return scrollPermission({ card, state, request: ask.permission }, scroll, view)
  }
  if (isAlone && hidesDetails(card, key)) {
    return { state: { ...card, state: hideDetails(state) }, effects: [], rest: [] }
  }
  if (!view.isFree || !isAlone || card.isAnswered) {
    return { state: clearPick(card), effects: [], rest: [...typedKeys(state.pick), key] }
  }
  if (state.kind === 'form') return pressForm({ card, state }, key)
  return pressPermission({ card, state, request: ask.permission }, key, view)
}

/**
 * Selects the choice of a digit that the user has typed into the composer; undefined when the card has no
 * such choice.
 */
export function pickDigit(card: AskCard, typed: string): AskCard | undefined {
  const { state } = card
  const digits = state.kind === 'form' ? listRowDigits({ card, state }) : listPermissionDigits(card)
  const at = /^[1-9]$/.test(typed) ? digits.indexOf(Number(typed)) : -1
  return at < 0
    ? undefined
    : { ...card, state: { ...state, pick: { ...newSelection(at), by: 'draft', typed } } }
}

/** Whether Enter was pressed early, so that the card is answered as soon as it is armed. */
export function isEntered({ state, isAnswered }: AskCard): boolean {
  return state.pick.isEntered && !isAnswered
}

/** Forgets an early Enter, because another key followed, or the card was not on the screen all the time since. */
export function forgetEnter(card: AskCard): AskCard {
  const { state } = card
  const pick = { ...state.pick, by: 'draft', isEntered: false } as const
  return isEntered(card) ? { ...card, state: { ...state, pick } } : card
}

/** Whether the next typed text is an answer rather than a message. */
export function isWriting({ state, isAnswered }: AskCard): boolean {
  return state.isWriting && !isAnswered
}

/** Submits typed text as the answer that the card waits for. */
export function writeToCard(card: AskCard, words: string): CardKeyResult {
  const { state } = card
  return state.kind === 'form' ? answerWithText({ card, state }, words) : answerWithReason(card, words)
}

/** Returns from typing an answer to the choices. */
export function stopWriting(card: AskCard): AskCard {
  const { state } = card
  if (state.kind === 'form') return { ...card, state: { ...state, isWriting: false } }
  return { ...card, state: { ...state, isWriting: false, isEditing: false } }
}

/** Whether the composer has the call of the card, which the user changes. */
export function isEditing({ state, isAnswered }: AskCard): boolean {
  return state.kind === 'permission' && state.isEditing && !isAnswered
}

/** Renders the card, which is drawn above the composer. */
export function renderCard(card: AskCard, view: CardView): Section {
  const { state, ask } = card
  if (state.kind === 'form') return renderForm({ card, state }, view)
  return renderPermission({ card, state, request: ask.permission }, view)
}

/** The keys that scroll a card; Home and End move the caret while there is a draft. */
const SCROLLS: ReadonlyMap<string, CardScroll> = new Map<string, CardScroll>([
  ['page-up', -1],
  ['page-down', 1],
  ['home', 'start'],
  ['end', 'end'],
])

/** Whether a key closes the details of the card, which Esc does even while there is a draft. */
function hidesDetails(card: AskCard, { name }: KeyPress): boolean {
  return name === 'escape' && findEscAction({ card }) === 'hide-details'
}

function hideDetails(state: AskCard['state']): AskCard['state'] {
  return state.kind === 'form' ? state : withDetails(state, false)
}

/** Clears the selection, because the typed keys go to the composer. */
function clearPick(card: AskCard): AskCard {
  const { state } = card
  if (state.pick.by === 'card' && state.pick.typed === '') return card
  const first = state.kind === 'form' ? newSelection(0) : newPermission(card).pick
  return { ...card, state: { ...state, pick: first } }
}
