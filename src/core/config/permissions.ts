import * as z from 'zod/mini'
import { takeStart } from '../base/truncate.ts'
import { toVisible } from '../base/visible.ts'
import { READ_ONLY_COMMANDS_RULE, readRule } from './rule-syntax.ts'
import { strictTable } from './schema.ts'
import type { KeyPath } from './validation-issue.ts'

/** A rule from a file, in the form that src/core/policy/ takes. */
export interface PermissionRule {
  effect: 'allow' | 'ask' | 'deny'
  pattern: string
  /** The location of the rule: `agents/crab.toml:4`. */
  source: string
  /**
   * The only class of turns it applies to, when it is in `[permissions.remote]` or
   * `[permissions.unattended]`.
   */
  for?: RuleClass
}

/** A class of turns that has its own table of rules. */
export type RuleClass = (typeof RULE_CLASSES)[number]

/** The classes of turns that have their own tables, by the names of those tables. */
const RULE_CLASSES = ['unattended', 'remote'] as const

/** The schema of a `[permissions]` table: lists of rules, and whether read-only commands run without asking. */
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
 * Returns the rules of a `[permissions]` table and of its class tables, each in the order deny, ask, allow.
 * `locate` returns the location of a key.
 */
export function toRules(
  table: z.infer<typeof permissionsTable> | undefined,
  locate: (path: KeyPath) => string,
): PermissionRule[] {
  const classRules = RULE_CLASSES.flatMap((name) =>
    listedRules(table?.[name], ['permissions', name], locate).map((rule) => ({ ...rule, for: name })),
  )
  const declaredRules = [...listedRules(table, ['permissions'], locate), ...classRules]
  if (table?.read_only_commands !== false) return declaredRules
  const source = locate(['permissions', READ_ONLY_COMMANDS_RULE])
  return [...declaredRules, { effect: 'ask', pattern: READ_ONLY_COMMANDS_RULE, source }]
}

function listedRules(
  lists: z.infer<ReturnType<typeof classTable>> | undefined,
  at: KeyPath,
  locate: (path: KeyPath) => string,
): PermissionRule[] {
  const effects = ['deny', 'ask', 'allow'] as const
  return effects.flatMap((effect) =>
    (lists?.[effect] ?? []).map((pattern, i) => ({ effect, pattern, source: locate([...at, effect, i]) })),
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
