import * as z from 'zod/mini'
import type { KeyPath } from './problem.ts'
import { readRule } from './rule-syntax.ts'
import { strictTable } from './schema.ts'

/** A rule of a file, as src/core/policy/ takes it. */
export interface PermissionRule {
  effect: 'allow' | 'ask' | 'deny'
  pattern: string
  /** Where it is written: `agents/crab.toml:4`. */
  source: string
}

/** A `[permissions]` table: lists of rules. */
export const permissionsTable = z.lazy(() =>
  strictTable({
    allow: z.exactOptional(rules()),
    ask: z.exactOptional(rules()),
    deny: z.exactOptional(rules()),
  }),
)

/** The rules of a `[permissions]` table, in the order deny, ask, allow; `place` gives where a key is written. */
export function toRules(
  table: z.infer<typeof permissionsTable> | undefined,
  place: (path: KeyPath) => string,
): PermissionRule[] {
  const effects = ['deny', 'ask', 'allow'] as const
  return effects.flatMap((effect) =>
    (table?.[effect] ?? []).map((pattern, i) => {
      return { effect, pattern, source: place(['permissions', effect, i]) }
    }),
  )
}

function rules() {
  return z.array(
    z.string().check(
      z.superRefine((text, context) => {
        const reading = readRule(text)
        if (reading.ok) return
        const { predicate, example } = reading.problem
        context.addIssue({ code: 'custom', message: predicate, params: { hint: `for example ${example}` } })
      }),
    ),
  )
}
