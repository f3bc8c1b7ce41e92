import type { AskQuestion } from '../../core/protocol/crabtalk.generated.ts'
import { choiceHelp, choiceOf, choicesOf, choiceWords } from '../../tui/cards/choices.ts'
import { visibleLine } from '../../tui/cards/subject.ts'
import { fact, type Style } from './layout.ts'

/** The meaning of a line typed under a permission request: an answer, a refusal with a reason to follow, or a request for details. */
export type Choice = { answer: string } | 'reason' | 'help'

/** Reads a line under a permission: `?` or one offered digit. Undefined for everything else: other text answers nothing. */
export function readChoice(line: string, question: AskQuestion): Choice | undefined {
  const text = line.trim()
  if (text === '?') return 'help'
  const choice = /^[1-9]$/.test(text) ? choiceOf(Number(text), question) : undefined
  return choice?.does
}

/** The choices with the rules they would make, a row each; every line ends. */
export function choiceLines(
  question: AskQuestion,
  about: { rules: readonly string[]; agent: string },
  style: Style,
): string {
  const rows = choicesOf(question).flatMap((choice) => {
    return fact(`${choice.digit}`, choiceWords(choice, about, 'whole'), style)
  })
  return rows.map((row) => `${row}\n`).join('')
}

/** The digits that answer a question, for a hint: `1 (Yes), 4 (No) …`. */
export function choiceNames(question: AskQuestion): string {
  const names = choicesOf(question).map((choice) => {
    return `${choice.digit} (${choiceWords(choice, { rules: [], agent: '' }, 'short')})`
  })
  return names.join(', ')
}

/** Renders the choices with their effects, as lines that each end with a line break. */
export function choiceHelpLines(question: AskQuestion, agent: string): string {
  const rows = choicesOf(question).map((one) => `${one.digit}  ${visibleLine(choiceHelp(one, agent))}`)
  const more = ['Ctrl-D is No, Ctrl-C ends the run']
  return [...rows, ...more].map((line) => `  ${line}\n`).join('')
}
