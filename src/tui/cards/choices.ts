import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import type { AskQuestion } from '../../core/protocol/crabtalk.generated.ts'
import { paint } from '../view/style.ts'
import { widthOf } from '../view/text.ts'
import { isOffered } from './permission-answer.ts'

/** One thing a person can do with a permission card. */
export interface Choice {
  key: string
  /** What it answers, or what else it does. */
  does: { answer: string } | 'reason' | 'whole'
  /** Two forms, for wide and for narrow terminals. */
  label: string
  short: string
  /** What it does, in a sentence. */
  help: string
}

/** What can be done with a question of permission; an answer that would last only where it is offered. */
export function choicesOf(question: Pick<AskQuestion, 'options'>): readonly Choice[] {
  return CHOICES.filter(({ does }) => {
    return typeof does === 'string' || does.answer === no || isOffered(does.answer, question)
  })
}

/** The choices side by side, in `most` rows with as many words as fit there; at last their keys alone, in as many as they take. */
export function choiceRows(
  choices: readonly Choice[],
  { selected, columns, color, most }: { selected: number; columns: number; color: boolean; most: number },
): string[] {
  const forms = FORMS.map((form) => flow(choices.map(form), { columns, selected, color }))
  return forms.find((rows) => rows.length <= most) ?? forms.at(-1)!
}

const FORMS: readonly ((choice: Choice) => readonly [key: string, words: string])[] = [
  ({ key, label }) => [key, ` ${label}`],
  ({ key, short }) => [key, ` ${short}`],
  ({ key }) => [key, ''],
]

function flow(
  labels: readonly (readonly [string, string])[],
  { columns, selected, color }: { columns: number; selected: number; color: boolean },
): string[] {
  const rows: string[] = []
  let filled = columns
  for (const [at, [key, words]] of labels.entries()) {
    const width = widthOf(key + words)
    const isSelected = at === selected
    const mark = isSelected ? '›' : ' '
    const text = isSelected
      ? paint(key + words, color, 'inverse')
      : paint(key, color, 'accent', 'bold') + words
    if (filled + 2 + width > columns) rows.push(`${mark}${text}`)
    else rows[rows.length - 1] += ` ${mark}${text}`
    filled = filled + 2 + width > columns ? 1 + width : filled + 2 + width
  }
  return rows
}

const { once, session, always, no } = PERMISSION_ANSWERS

const CHOICES: readonly Choice[] = [
  { key: 'y', does: { answer: once }, label: 'once', short: 'once', help: 'allows this call' },
  {
    key: 's',
    does: { answer: session },
    label: 'in this conversation',
    short: 'session',
    help: 'allows what the rule says until this conversation ends',
  },
  {
    key: 'a',
    does: { answer: always },
    label: 'always',
    short: 'always',
    help: "writes the rule into the agent's file",
  },
  { key: 'n', does: { answer: no }, label: 'no', short: 'no', help: 'refuses it, as Esc and Ctrl+D do' },
  {
    key: 'N',
    does: 'reason',
    label: 'no, and why',
    short: 'why',
    help: 'refuses it and tells the agent why',
  },
  {
    key: '?',
    does: 'whole',
    label: 'everything',
    short: 'all',
    help: 'shows everything, and what the keys do',
  },
]
