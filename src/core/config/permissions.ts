import * as z from 'zod/mini'
import { takeStart } from '../base/truncate.ts'
import { toVisible } from '../base/visible.ts'
import { READ_ONLY_COMMANDS_RULE, readRule } from './rule-syntax.ts'
import { strictTable } from './schema.ts'
import type { KeyPath } from './validation-issue.ts'

/** A rule of a file, as src/core/policy/ takes it. */
export interface PermissionRule {
  effect: 'allow' | 'ask' | 'deny'
  pattern: string
  /** Where it is written: `agents/crab.toml:4`. */
  source: string
  /** The only class of turns it holds for: its table is `[permissions.remote]` or `[permissions.unattended]`. */
  for?: RuleClass
}

/** A class of turns that has a table of rules of its own. */
export type RuleClass = (typeof RULE_CLASSES)[number]

/** The classes of turns that have tables of their own, as those tables are named. */
export const RULE_CLASSES = ['unattended', 'remote'] as const

/** A `[permissions]` table: lists of rules, and whether commands that only read run without a question. */
export const permissionsTable = z.lazy(() =>
  strictTable({
    allow: z.exactOptional(rules()),
    ask: z.exactOptional(rules()),
    deny: z.exactOptional(rules()),
    read_only_commands: z.exactOptional(z.boolean()),
    unattended: z.exactOptional(classTable()),
    remote: z.exactOptional(classTable()),
  }),
)

/**
 * The rules of a `[permissions]` table and of its tables of classes, each in the order deny, ask, allow; `place` gives where
 * a key is written.
 */
export function toRules(
  table: z.infer<typeof permissionsTable> | undefined,
  place: (path: KeyPath) => string,
): PermissionRule[] {
  const ofClasses = RULE_CLASSES.flatMap((name) =>
    listedRules(table?.[name], ['permissions', name], place).map((rule) => ({ ...rule, for: name })),
  )
  const written = [...listedRules(table, ['permissions'], place), ...ofClasses]
  if (table?.read_only_commands !== false) return written
  const source = place(['permissions', READ_ONLY_COMMANDS_RULE])
  return [...written, { effect: 'ask', pattern: READ_ONLY_COMMANDS_RULE, source }]
}

function listedRules(
  lists: z.infer<ReturnType<typeof classTable>> | undefined,
  at: KeyPath,
  place: (path: KeyPath) => string,
): PermissionRule[] {
  const effects = ['deny', 'ask', 'allow'] as const
  return effects.flatMap((effect) =>
    (lists?.[effect] ?? []).map((pattern, i) => ({ effect, pattern, source: place([...at, effect, i]) })),
  )
}

function classTable() {
  return strictTable({
    allow: z.exactOptional(rules()),
    ask: z.exactOptional(rules()),
    deny: z.exactOptional(rules()),
  })
}

function rules() {
  return z.array(
    z.string().check(
      z.superRefine((text, context) => {
        const reading = readRule(text)
        if (reading.ok) return
        const { predicate, example } = reading.problem
        const name = toVisible(takeStart(text.replace(/\(.*/s, ''), MAX_SHOWN)) // what is in parentheses may be a secret
        const message = name === '' ? predicate : `(${name}) ${predicate}`
        context.addIssue({ code: 'custom', message, params: { hint: `for example ${example}` } })
      }),
    ),
  )
}

/** The most UTF-16 units of the name in a wrong rule that its message shows. */
const MAX_SHOWN = 60
