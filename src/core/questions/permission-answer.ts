import { PERMISSION_ANSWERS } from '../base/permission-answers.ts'
import { sanitize } from '../base/sanitize.ts'
import type { AskQuestion } from '../protocol/crabtalk.generated.ts'

/** Converts the user's reason to a denial. Text that equals an answer that allows becomes a plain No. */
export function toDenialAnswer(reason: string): string {
  const words = sanitize(reason).trim()
  const isAnswer = Object.values<string>(PERMISSION_ANSWERS).includes(words)
  return words === '' || isAnswer ? PERMISSION_ANSWERS.no : words
}

/** Whether a permission question offers an answer; lasting answers are not always among its options. */
export function isOffered(answer: string, { options }: Pick<AskQuestion, 'options'>): boolean {
  return options.some(({ label }) => label === answer)
}
