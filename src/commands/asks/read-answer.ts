import { choiceNames, readChoice } from '../../cli/ask/choice.ts'
import type { DialogAnswers } from '../../cli/ask/dialog.ts'
import { planChoiceNames, readPlanChoice } from '../../cli/ask/plan.ts'
import { readAnswer } from '../../cli/ask/question.ts'
import { CrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { escapeLine } from '../../core/base/visible.ts'
import { AskKind, type AskQuestion, type AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { takesAnyText } from '../../core/questions/answer-kinds.ts'
import { optionKeys } from '../../core/questions/option-keys.ts'
import { isOffered, toDenialAnswer } from '../../core/questions/permission-answer.ts'

/**
 * Converts words on a command line to answers, as `reply_to_ask` takes them: for a permission the digit of a
 * choice or "5 REASON"; for questions a number, a label or free text, one word for each question, and an
 * empty word for no answer.
 *
 * Throws a `usage` error that lists the possible answers.
 */
export function readAnswers(words: readonly string[], ask: AskUserEvent): DialogAnswers {
  const { permission, questions } = ask
  const [first] = questions
  if (permission && first) return { [first.question]: readPermission(words.join(' '), first) }
  if (ask.kind === AskKind.PLAN && first) return { [first.question]: readPlanAnswer(words.join(' '), first) }
  const lines = questions.length === 1 ? [words.join(' ')] : words
  if (lines.length !== questions.length) throw wrongCount(lines.length, questions)
  const answers = questions.map((question, at) => {
    return [question.question, readOne(lines[at] ?? '', question, ask)] as const
  })
  return Object.fromEntries(answers)
}

/** Accepts a label as well as the digits of the card. */
function readPermission(line: string, question: AskQuestion): string {
  const label = question.options.find((option) => option.label.toLowerCase() === line.trim().toLowerCase())
  if (label && isOffered(label.label, question)) return label.label
  const [, reason] = /^5[\s,:]+(.+)$/s.exec(line.trim()) ?? []
  if (reason !== undefined) return toDenialAnswer(reason)
  const choice = readChoice(line, question)
  if (choice === 'reason') return toDenialAnswer('')
  if (typeof choice === 'object') return choice.answer
  throw new CrabError('usage', `Cannot answer "${escapeLine(line)}": it is not a choice of this question`, {
    hint: `answer with ${choiceNames(question)}; crabtalk asks shows the question`,
  })
}

function readPlanAnswer(line: string, question: AskQuestion): string {
  const choice = readPlanChoice(line, question)
  if (typeof choice === 'object') return choice.answer
  throw new CrabError('usage', `Cannot answer "${escapeLine(line)}": it is not a choice about a plan`, {
    hint: `answer with ${planChoiceNames(question)}; "3 use pnpm" says what to change`,
  })
}

function readOne(line: string, question: AskQuestion, { kind }: Pick<AskUserEvent, 'kind'>): string {
  if (line === '') return ''
  const answer = readAnswer(line, question, { isFree: takesAnyText({ kind }, question), kind })
  if (answer !== undefined) return answer
  const keys = optionKeys(question.options, kind)
  const labels = question.options.map(({ label }, at) => `${keys[at]} ${escapeLine(label)}`.trim()).join(', ')
  throw new CrabError('usage', `Cannot answer "${escapeLine(line)}": no option has that name`, {
    hint: `choose one of ${labels}`,
  })
}

function wrongCount(count: number, questions: readonly AskQuestion[]): CrabError {
  const names = questions.map(({ question }) => `"${escapeLine(question)}"`).join(', ')
  return new CrabError(
    'usage',
    `Cannot answer: there are ${questions.length} questions, and ${pluralize(count, 'answer')}`,
    { hint: `in this order, each one word for the shell: ${names}` },
  )
}
