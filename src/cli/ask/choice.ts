import { escapeLine } from '../../core/base/visible.ts'
import type { AskQuestion } from '../../core/protocol/crabtalk.generated.ts'
import {
  describeChoice,
  findPermissionChoice,
  formatChoice,
  listPermissionChoices,
} from '../../core/questions/choices.ts'
import { labelRows, type TerminalStyle } from './layout.ts'

/**
 * The meaning of a line typed under a permission request: an answer, a denial whose reason follows, or a
 * request for details.
 */
export type TypedChoice = { answer: string } | 'reason' | 'help'

/**
 * Parses a line typed under a permission request: `?` or one offered digit. Returns undefined for any other
 * text, which answers nothing.
 */
export function readChoice(line: string, question: AskQuestion): TypedChoice | undefined {
  const text = line.trim()
  if (text === '?') return 'help'
  const choice = /^[1-9]$/.test(text) ? findPermissionChoice(Number(text), question) : undefined
  return choice?.does
}

/** Renders the choices with the rules they would add, as lines that each end with a line break. */
export function choiceLines(
  question: AskQuestion,
  about: { rules: readonly string[]; agent: string },
  style: TerminalStyle,
): string {
  const rows = listPermissionChoices(question).flatMap((choice) => {
    return labelRows(`${choice.digit}`, formatChoice(choice, about, 'whole'), style)
  })
  return rows.map((row) => `${row}\n`).join('')
}

/** Lists the digits that answer a question, for a hint such as `1 (Yes), 4 (No) …`. */
export function choiceNames(question: AskQuestion): string {
  const names = listPermissionChoices(question).map((choice) => {
    return `${choice.digit} (${formatChoice(choice, { rules: [], agent: '' }, 'short')})`
  })
  return names.join(', ')
}

/** Renders the choices with their effects, as lines that each end with a line break. */
export function choiceHelpLines(question: AskQuestion, agent: string): string {
  const rows = listPermissionChoices(question).map(
    (one) => `${one.digit}  ${escapeLine(describeChoice(one, agent))}`,
  )
  const more = ['Ctrl+D means No, Ctrl+C ends the run']
  return [...rows, ...more].map((line) => `  ${line}\n`).join('')
}
