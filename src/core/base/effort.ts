import { CrabError } from './errors.ts'

/** The levels of reasoning effort, in ascending order. */
export const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** A level of reasoning effort. Absent means the provider's default. */
export type Effort = (typeof EFFORTS)[number]

/** Whether a text is a level of reasoning effort. */
export function isEffort(text: string): text is Effort {
  return (EFFORTS as readonly string[]).includes(text)
}

/** Returns the level that a text names. Throws `invalid` for any other text. */
export function parseEffort(text: string): Effort {
  if (isEffort(text)) return text
  throw new CrabError('invalid', `Cannot use the effort "${text}": it is not a known level`, {
    hint: `choose one of ${EFFORTS.join(', ')}`,
  })
}
