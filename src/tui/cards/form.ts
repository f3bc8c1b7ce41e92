import { AskKind } from '../../core/protocol/crabtalk.generated.ts'
import { findEscAction } from '../text/esc-key.ts'
import type { KeyPress } from '../text/key.ts'
import {
  type CurrentQuestion,
  countTabs,
  type FilledForm,
  type FormRow,
  getCurrentQuestion,
  listFormRows,
  listRowDigits,
  markedAnswer,
  toLabel,
} from './form-fields.ts'
import { formRange } from './form-view.ts'
import { toScrollPosition } from './rows.ts'
import { newSelection, pressSelection } from './selection.ts'
import type { AskCard, CardField, CardKeyResult, CardScroll, CardView, FormState } from './types.ts'

/**
 * Handles a key on a form while the composer is empty. Esc submits empty answers to all questions; own words
 * are typed into the composer after their row was chosen.
 */
export function pressForm(form: FilledForm, key: KeyPress): CardKeyResult {
  const { card, state } = form
  const { isArmed } = card
  const escaped = key.name === 'escape' ? escapeForm(form) : undefined
  if (escaped) return escaped
  const turns = TURNS.get(key.name)
  const isMoving = isArmed || state.pick.by !== 'card'
  if (turns !== undefined && !key.shift && !key.ctrl && !key.alt && isMoving && countTabs(form) > 1) {
    return switchTab(form, turns)
  }
  const isLasting = card.ask.kind === AskKind.TRUST
  const picked = pressSelection(state.pick, key, {
    digits: listRowDigits(form),
    first: 0,
    isArmed,
    isLasting,
  })
  if (picked.type === 'moved') {
    return { ...set(form, { pick: picked.pick }), ...(picked.hint && { hint: picked.hint }) }
  }
  if (picked.type === 'chosen') return choose(form, listFormRows(form)[state.pick.at]!)
  const reset = set(form, { pick: newSelection(0), scroll: state.scroll })
  return { ...reset, rest: picked.keys, ...(picked.hint && { hint: picked.hint }) }
}

/** Applies Esc; undefined when the form does not use it. */
function escapeForm(form: FilledForm): CardKeyResult | undefined {
  const { card, state } = form
  switch (findEscAction({ card: { ...card, state } })) {
    case 'decline':
      return send(card, () => '')
    case 'clear-selection':
      return set(form, { pick: newSelection(0) })
    default:
      return undefined
  }
}

const TURNS: ReadonlyMap<string, number> = new Map([
  ['tab', 1],
  ['right', 1],
  ['left', -1],
])

/** Scrolls by a page, or to an end. */
export function scrollForm(form: FilledForm, to: CardScroll, view: CardView): CardKeyResult {
  const { start, most, page } = formRange(form, view)
  return set(form, { scroll: toScrollPosition(to, { start, most, page }) })
}

/** Submits a message as the answer to the current question. */
export function answerWithText(form: FilledForm, words: string): CardKeyResult {
  const current = getCurrentQuestion(form)!
  const field = { ...current.field, ownText: toLabel(words, current.question) }
  const written = { ...form, state: { ...form.state, isWriting: false } }
  if (current.question.multiSelect) return setField(written, field)
  return confirm(written, { ...field, answer: field.ownText })
}

function choose(form: FilledForm, row: FormRow): CardKeyResult {
  const { card, state } = form
  if (row.does === 'send') return send(card, (at) => state.fields[at]?.answer ?? '')
  if (row.does === 'change') return set(form, { tab: 0, pick: newSelection(0) })
  if (row.does === 'write') return set(form, { isWriting: true, pick: newSelection(0) })
  const current = getCurrentQuestion(form)!
  if (row.does === 'done') return finish(form, current)
  const { question, field } = current
  if (question.multiSelect) return setField(form, toggleOption(field, row.at))
  return confirm(form, { ...field, answer: question.options[row.at]!.label })
}

function finish(form: FilledForm, current: CurrentQuestion): CardKeyResult {
  const answer = markedAnswer(current)
  if (answer === undefined) return { ...set(form, {}), hint: 'Mark an answer first' }
  return confirm(form, { ...current.field, answer })
}

function toggleOption(field: CardField, at: number): CardField {
  const { marked } = field
  return { ...field, marked: marked.includes(at) ? marked.filter((one) => one !== at) : [...marked, at] }
}

/** Stores an answer and moves to the next question; the answer to a single question is sent. */
function confirm(form: FilledForm, field: CardField): CardKeyResult {
  if (form.state.fields.length === 1) return send(form.card, () => field.answer ?? '')
  const { state } = setField(form, field)
  return switchTab({ card: state, state: state.state as FormState }, 1)
}

function switchTab(form: FilledForm, step: number): CardKeyResult {
  const count = countTabs(form)
  return set(form, { tab: (form.state.tab + step + count) % count, pick: newSelection(0) })
}

/** Updates a field. The selected row stays selected, so that the next option is one arrow key away. */
function setField(form: FilledForm, field: CardField): CardKeyResult {
  const pick = { ...newSelection(form.state.pick.at), by: 'arrows' } as const
  return set(form, { pick, fields: form.state.fields.with(form.state.tab, field) })
}

function set({ card, state }: FilledForm, change: Partial<FormState>): CardKeyResult {
  return { state: { ...card, state: { ...state, scroll: undefined, ...change } }, effects: [], rest: [] }
}

/** Sends the answers. A card is answered only once: its keys do nothing afterwards. */
function send(card: AskCard, answerAt: (at: number) => string): CardKeyResult {
  const answers = Object.fromEntries(card.ask.questions.map(({ question }, at) => [question, answerAt(at)]))
  const state = { ...(card.state as FormState), pick: newSelection(0), isWriting: false }
  const effect = { type: 'answer', askId: card.askId, answers } as const
  return { state: { ...card, state, isArmed: false, isAnswered: true }, effects: [effect], rest: [] }
}
