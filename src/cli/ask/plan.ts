import { PLAN_ANSWERS } from '../../core/base/plan-answers.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { AskQuestion } from '../../core/protocol/crabtalk.generated.ts'
import { listPlanChoices, toChangesAnswer } from '../../core/questions/plan-choices.ts'
import { labelRows, quoteWithBar, type TerminalStyle } from './layout.ts'

/** Renders a plan and its choices as lines that each end with a line break. */
export function planText(question: AskQuestion, style: TerminalStyle): string {
  const plan = quoteWithBar(sanitize(question.question).replaceAll('\t', ' '), {
    style,
    maxRows: Number.POSITIVE_INFINITY,
  })
  const choices = listPlanChoices(question).flatMap(({ digit, text = '' }) =>
    labelRows(`${digit}`, text, style),
  )
  return [...plan, ...choices].map((line) => `${line}\n`).join('')
}

/**
 * Parses a line typed under a plan: an answer, or `changes` when the next line says what to change. A digit
 * and a text (`3 use pnpm`) ask for changes at once. Returns undefined for any other text.
 */
export function readPlanChoice(
  line: string,
  question: AskQuestion,
): { answer: string } | 'changes' | undefined {
  const [, text] = /^3[\s,:]+(.+)$/s.exec(line.trim()) ?? []
  if (text !== undefined) return { answer: toChangesAnswer(text) }
  const choices = listPlanChoices(question)
  const choice = choices.find(({ digit, does }) => {
    return line.trim() === `${digit}` || (does !== 'reason' && isLabel(line, does.answer))
  })
  return choice?.does === 'reason' ? 'changes' : choice?.does
}

/** Lists the digits that answer a plan, for a hint. */
export function planChoiceNames(question: AskQuestion): string {
  return listPlanChoices(question)
    .map(({ digit, text = '' }) => `${digit} (${text.replace(/[:,].*/, '')})`)
    .join(', ')
}

/** The answer when the user gives none. */
export const NO_PLAN_ANSWER = PLAN_ANSWERS.no

function isLabel(line: string, label: string): boolean {
  return line.trim().toLowerCase() === label.toLowerCase()
}
