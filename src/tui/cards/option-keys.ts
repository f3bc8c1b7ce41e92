import type { AskQuestion } from '../../core/protocol/crabtalk.generated.ts'

/** What each option of a question is chosen by: its number, or a letter where some label is a number itself. */
export function optionKeys(options: AskQuestion['options']): string[] {
  const hasNumber = options.some(({ label }) => /^\d+$/.test(label.trim()))
  return options.map((_, at) => (hasNumber ? String.fromCodePoint(A + at) : `${at + 1}`))
}

const A = 97
