import type { AskQuestion } from '../../core/protocol/crabtalk.generated.ts'
import { takesAnyText } from './answer-kinds.ts'
import { optionKeys } from './option-keys.ts'
import { newSelection } from './selection.ts'
import type { AskCard, CardField, FormState } from './types.ts'

/** A form, as far as it is filled in. */
export interface FilledForm {
  card: AskCard
  state: FormState
}

/** A row that can be chosen: an option by its place, the person's own words, or a step of the form. */
export type FormRow =
  | { does: 'option'; at: number }
  /** The next message is the answer. */
  | { does: 'write' }
  /** Gives the marked options and the own words of a question with several answers. */
  | { does: 'done' }
  /** Sends all answers. */
  | { does: 'send' }
  /** Goes back to the first question. */
  | { does: 'change' }

/** The question that is shown, with its field; undefined in the review. */
export interface CurrentQuestion {
  question: AskQuestion
  field: CardField
}

/** The form of these questions, empty. */
export function newForm(questions: readonly AskQuestion[]): FormState {
  const fields = questions.map((): CardField => ({ marked: [], ownText: '', answer: undefined }))
  return { kind: 'form', tab: 0, pick: newSelection(0), scroll: undefined, isWriting: false, fields }
}

export function getCurrentQuestion({ card, state }: FilledForm): CurrentQuestion | undefined {
  const question = card.ask.questions[state.tab]
  const field = state.fields[state.tab]
  return question && field && { question, field }
}

/** Lists the rows that can be chosen now, in the order of the screen. */
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

/** The digit of each row; 0 for one that only the arrows reach. Labels that are numbers leave none to their rows. */
export function listRowDigits(form: FilledForm): readonly number[] {
  const keys = optionKeys(getCurrentQuestion(form)?.question.options ?? [])
  return listFormRows(form).map((_, at) => (keys.includes('') || at >= 9 ? 0 : at + 1))
}

/** How many tabs there are: a review stands behind several questions, not behind one. */
export function countTabs({ state }: FilledForm): number {
  return state.fields.length === 1 ? 1 : state.fields.length + 1
}

/** The marked options and the own words of a question with several answers; undefined for none. */
export function markedAnswer({ question, field }: CurrentQuestion): string | undefined {
  const marked = question.options.filter((_, at) => field.marked.includes(at)).map(({ label }) => label)
  const all = [...new Set([...marked, ...(field.ownText === '' ? [] : [field.ownText])])]
  return all.length === 0 ? undefined : all.join(', ')
}

/** The person's own words; a label that was typed stands for its option, in upper or lower case. */
export function toLabel(words: string, { options }: AskQuestion): string {
  return options.find(({ label }) => label.toLowerCase() === words.toLowerCase())?.label ?? words
}
