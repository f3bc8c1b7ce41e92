import { AskKind, type AskQuestion } from '../../core/protocol/crabtalk.generated.ts'
import { EMPTY_LINE } from './line.ts'
import { optionKeys } from './option-keys.ts'
import type { AskCard, Field, FormState } from './types.ts'

/** A form, as far as it is filled in. */
export interface Form {
  card: AskCard
  state: FormState
}

/** The question that is shown, with its field; undefined in the review. */
export interface Current {
  question: AskQuestion
  field: Field
  /** What each option is chosen by. */
  keys: readonly string[]
  /** A person may answer in words of their own. */
  isFree: boolean
  /** The arrows stand on the row for these words. */
  isTyping: boolean
}

/** The form of these questions, empty. */
export function newForm(questions: readonly AskQuestion[]): FormState {
  const fields = questions.map((): Field => ({ cursor: 0, marked: [], text: EMPTY_LINE, answer: undefined }))
  return { kind: 'form', tab: 0, scroll: undefined, fields }
}

export function currentOf({ card, state }: Form): Current | undefined {
  const question = card.ask.questions[state.tab]
  const field = state.fields[state.tab]
  if (!question || !field) return undefined
  const { options } = question
  const isFree = card.ask.kind !== AskKind.ELICITATION || options.length === 0
  return {
    question,
    field,
    keys: optionKeys(options),
    isFree,
    isTyping: isFree && field.cursor >= options.length,
  }
}

/** How many tabs there are: a review stands behind several questions, not behind one. */
export function tabCount({ state }: Form): number {
  return state.fields.length === 1 ? 1 : state.fields.length + 1
}

/** What Enter gives now: labels as the question names them, a person's own words, or both; undefined for nothing yet. */
export function answerOf({ question, field, isTyping }: Current): string | undefined {
  const { options, multiSelect } = question
  const words = toLabel(field.text.text.trim(), question)
  const here = isTyping ? [] : labelsAt(question, [field.cursor])
  if (!multiSelect) return (isTyping ? words : here[0]) || undefined
  const marked = labelsAt(
    question,
    options.map((_, at) => at).filter((at) => field.marked.includes(at)),
  )
  const all = [...new Set([...marked, ...(words === '' ? [] : [words])])]
  return (all.length > 0 ? all : here).join(', ') || undefined
}

function labelsAt({ options }: AskQuestion, places: readonly number[]): string[] {
  return places.flatMap((at) => options[at]?.label ?? [])
}

/** A label that was typed stands for its option, in upper or lower case. */
function toLabel(words: string, { options }: AskQuestion): string {
  return options.find(({ label }) => label.toLowerCase() === words.toLowerCase())?.label ?? words
}
