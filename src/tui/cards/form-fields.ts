import type { AskQuestion } from '../../core/protocol/crabtalk.generated.ts'
import { takesAnyText } from '../../core/questions/answer-kinds.ts'
import { optionKeys } from '../../core/questions/option-keys.ts'
import { newSelection } from './selection.ts'
import type { AskCard, CardField, FormState } from './types.ts'

/** A form and its current answers. */
export interface FilledForm {
  card: AskCard
  state: FormState
}

/** A row that can be chosen: an option by its index, the user's own words, or a step of the form. */
export type FormRow =
  | { does: 'option'; at: number }
  /** Makes the next message the answer. */
  | { does: 'write' }
  /** Submits the marked options and own words of a question that allows several answers. */
  | { does: 'done' }
  /** Sends all answers. */
  | { does: 'send' }
  /** Returns to the first question. */
  | { does: 'change' }

/** The question on the screen and its field. */
export interface CurrentQuestion {
  question: AskQuestion
  field: CardField
}

/** Creates an empty form for these questions. */
export function newForm(questions: readonly AskQuestion[]): FormState {
  const fields = questions.map((): CardField => ({ marked: [], ownText: '', answer: undefined }))
  return { kind: 'form', tab: 0, pick: newSelection(0), scroll: undefined, isWriting: false, fields }
}

/** Returns the question on the screen and its field; undefined in the review. */
export function getCurrentQuestion({ card, state }: FilledForm): CurrentQuestion | undefined {
  const question = card.ask.questions[state.tab]
  const field = state.fields[state.tab]
  return question && field && { question, field }
}

/** Lists the rows that can be chosen now, in screen order. */
export function listFormRows(form: FilledForm): readonly FormRow[] {
  const current = getCurrentQuestion(form)
  if (!current) return [{ does: 'send' }, { does: 'change' }]
  const { options, multiSelect } = current.question
  return [
    ...options.map((_, at): FormRow => ({ does: 'option', at })),
    ...(takesAnyText(form.card.ask, current.question) ? [{ does: 'write' } as const] : []),
    ...(multiSelect ? [{ does: 'done' } as const] : []),
  ]
}

/**
 * Returns the digit of each row; 0 for a row that only the arrows reach. When a label is a number, no row has
 * a digit.
 */
export function listRowDigits(form: FilledForm): readonly number[] {
  const keys = optionKeys(getCurrentQuestion(form)?.question.options ?? [], form.card.ask.kind)
  return listFormRows(form).map((_, at) => (keys.includes('') || at >= 9 ? 0 : Number(keys[at] ?? at + 1)))
}

/** Counts the tabs: several questions are followed by a review, a single one is not. */
export function countTabs({ state }: FilledForm): number {
  return state.fields.length === 1 ? 1 : state.fields.length + 1
}

/**
 * Joins the marked options and own words of a question that allows several answers; undefined when there are
 * none.
 */
export function markedAnswer({ question, field }: CurrentQuestion): string | undefined {
  const marked = question.options.filter((_, at) => field.marked.includes(at)).map(({ label }) => label)
  const all = [...new Set([...marked, ...(field.ownText === '' ? [] : [field.ownText])])]
  return all.length === 0 ? undefined : all.join(', ')
}

/** Returns the option whose label was typed, ignoring case; otherwise the typed words. */
export function toLabel(words: string, { options }: AskQuestion): string {
  return options.find(({ label }) => label.toLowerCase() === words.toLowerCase())?.label ?? words
}
