import { resolve } from 'node:path'
import { READ_ONLY_COMMANDS_RULE, type RuleForm } from '../../config/rule-syntax.ts'
import { isInside } from '../paths.ts'
import { isRestricting, type ParsedRule, rulesAbout } from '../read-rules.ts'
import type { PolicyContext, ReadOnlyUse, Rule } from '../types.ts'

/** The rule that denies or asks about reading something that a command may show; undefined when none does. */
export function findClosing(
  { paths, trees }: ReadOnlyUse,
  rules: readonly ParsedRule[],
  setting: PolicyContext,
): Rule | undefined {
  const restricting = rules.filter(({ rule }) => isRestricting(rule))
  const isAbout = restricting.some(({ forms }) =>
    forms.some(({ about }) => about === 'read' || about === 'everything'),
  )
  if (!isAbout) return undefined
  for (const path of paths) {
    const [rule] = rulesAbout({ kind: 'read', path, shown: path }, restricting, setting)
    if (rule) return rule
  }
  const found = restricting.find(({ forms }) => {
    return trees.some((tree) => forms.some((form) => mayBeBelow(form, tree, setting)))
  })
  return found?.rule
}

/** Whether a rule has commands that only read treated like all others. */
export function hasSwitchedOff(rules: readonly ParsedRule[]): boolean {
  return rules.some(({ rule, forms: [form] }) => {
    return isRestricting(rule) && form?.about === 'tool' && form.name === READ_ONLY_COMMANDS_RULE
  })
}

/** Whether a rule may be about a file below a folder. */
function mayBeBelow(form: RuleForm, tree: string, { homeDir }: PolicyContext): boolean {
  if (form.about !== 'read') return form.about === 'everything'
  if (form.path === undefined || form.path.start === '') return true
  const base = resolve(form.path.start === '~' ? homeDir : form.path.start, ...form.path.base)
  return isInside(tree, base) || isInside(base, tree)
}
