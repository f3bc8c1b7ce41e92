import type { AskQuestion } from '../protocol/crabtalk.generated.ts'

/**
 * Returns the number that chooses each option; empty for all when a label is a number itself and must be
 * typed.
 */
export function optionKeys(options: AskQuestion['options']): string[] {
  const hasNumber = options.some(({ label }) => /^\d+$/.test(label.trim()))
  return options.map((_, at) => (hasNumber ? '' : `${at + 1}`))
}
