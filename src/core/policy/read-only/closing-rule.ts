import { resolve } from 'node:path'
import { READ_ONLY_COMMANDS_RULE, type RuleForm } from '../../config/rule-syntax.ts'
import { isInside } from '../paths.ts'
import { isRestricting, type ParsedRule, rulesAbout } from '../read-rules.ts'
import type { PolicyContext, ReadOnlyUse, Rule } from '../types.ts'

/** Returns the rule that restricts reading something that a command may show; undefined when there is none. */
export function findClosing(
  { paths, trees }: ReadOnlyUse,
  rules: readonly ParsedRule[],
  context: PolicyContext,
): Rule | undefined {
  const restricting = rules.filter(({ rule }) => isRestricting(rule))
  const isAbout = restricting.some(({ forms }) =>
    forms.some(({ about }) => about === 'read' || about === 'everything'),
  )
  if (!isAbout) return undefined
  for (const path of paths) {
    const [rule] = rulesAbout({ kind: 'read', path, shown: path }, restricting, context)
    if (rule) return rule
  }
  const match = restricting.find(({ forms }) => {
    return trees.some((tree) => forms.some((form) => mayBeBelow(form, tree, context)))
  })
  return match?.rule
}

/** Whether a rule disables the special treatment of read-only commands. */
export function hasSwitchedOff(rules: readonly ParsedRule[]): boolean {
  return rules.some(({ rule, forms: [form] }) => {
    return isRestricting(rule) && form?.about === 'tool' && form.name === READ_ONLY_COMMANDS_RULE
  })
}

/** Whether a rule may cover a file below a folder. */
function mayBeBelow(form: RuleForm, tree: string, { homeDir }: PolicyContext): boolean {
  if (form.about !== 'read') return form.about === 'everything'
  if (form.path === undefined || form.path.start === '') return true
  const base = resolve(form.path.start === '~' ? homeDir : form.path.start, ...form.path.base)
  return isInside(tree, base) || isInside(base, tree)
}
