import { AskKind, type AskQuestion, type AskUserEvent } from '../protocol/crabtalk.generated.ts'
import { NO_DIGIT } from './choices.ts'

/**
 * Returns the number that chooses each option; empty for all when a label is a number itself and must be
 * typed. The question whether to trust a folder has the digits of a permission: 1 is yes and 4 is no.
 */
export function optionKeys(options: AskQuestion['options'], kind: AskUserEvent['kind']): string[] {
  if (kind === AskKind.TRUST && options.length === TRUST_KEYS.length) return TRUST_KEYS
  const hasNumber = options.some(({ label }) => /^\d+$/.test(label.trim()))
  return options.map((_, at) => (hasNumber ? '' : `${at + 1}`))
}

const TRUST_KEYS = ['1', `${NO_DIGIT}`]
