import * as z from 'zod/mini'
import type { KeyPath } from './problem.ts'
import { READ_ONLY_COMMANDS_RULE, readRule } from './rule-syntax.ts'
import { strictTable } from './schema.ts'

/** A rule of a file, as src/core/policy/ takes it. */
export interface PermissionRule {
  effect: 'allow' | 'ask' | 'deny'
  pattern: string
  /** Where it is written: `agents/crab.toml:4`. */
  source: string
}

/** A `[permissions]` table: lists of rules, and whether commands that only read run without a question. */
export const permissionsTable = z.lazy(() =>
  strictTable({
    allow: z.exactOptional(rules()),
    ask: z.exactOptional(rules()),
    deny: z.exactOptional(rules()),
    read_only_commands: z.exactOptional(z.boolean()),
  }),
)

/** The rules of a `[permissions]` table, in the order deny, ask, allow; `place` gives where a key is written. */
export function toRules(
  table: z.infer<typeof permissionsTable> | undefined,
  place: (path: KeyPath) => string,
): PermissionRule[] {
  const effects = ['deny', 'ask', 'allow'] as const
  const written = effects.flatMap((effect) =>
    (table?.[effect] ?? []).map((pattern, i): PermissionRule => {
      return { effect, pattern, source: place(['permissions', effect, i]) }
    }),
  )
  if (table?.read_only_commands !== false) return written
  const source = place(['permissions', READ_ONLY_COMMANDS_RULE])
  return [...written, { effect: 'ask', pattern: READ_ONLY_COMMANDS_RULE, source }]
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
