import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { AskQuestion } from '../../core/protocol/crabtalk.generated.ts'

/** A refusal in a person's own words; they never pass for one of the answers that allow. */
export function toDenialAnswer(reason: string): string {
  const words = sanitize(reason).trim()
  const isAnswer = Object.values<string>(PERMISSION_ANSWERS).includes(words)
  return words === '' || isAnswer ? PERMISSION_ANSWERS.no : words
}

/** Whether a question of permission can be answered so: an answer that would last is not always one of its options. */
export function isOffered(answer: string, { options }: Pick<AskQuestion, 'options'>): boolean {
  return options.some(({ label }) => label === answer)
}
