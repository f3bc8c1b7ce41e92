import type { AskQuestion } from '../../core/protocol/crabtalk.generated.ts'

/** The number that chooses each option of a question; none where a label is a number itself, which is typed then. */
export function optionKeys(options: AskQuestion['options']): string[] {
  const hasNumber = options.some(({ label }) => /^\d+$/.test(label.trim()))
  return options.map((_, at) => (hasNumber ? '' : `${at + 1}`))
}
