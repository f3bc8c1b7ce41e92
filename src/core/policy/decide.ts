import { rulesFor } from './class-rights.ts'
import { decideLine } from './decide-line.ts'
import { namesGuarded } from './protected-paths.ts'
import { type ParsedRule, parseRules, rulesAbout } from './read-rules.ts'
import { suggestRule } from './suggest.ts'
import type { Decision, EditGuard, PolicyAction, PolicyContext } from './types.ts'
import { conclude } from './verdict.ts'
import { warnAbout } from './wide-rules.ts'

/**
 * What the rules, the class of the turn and its mode say of an action (decisions 29 and 30). Pure.
 *
 * Throws `invalid` for a rule that is none: rules are checked where they enter.
 */
export function decide(action: PolicyAction, setting: PolicyContext): Decision {
  const decision = decideAction(action, setting)
  return { ...decision, warnings: decision.matched.flatMap(warnAbout) }
}

function decideAction(action: PolicyAction, setting: PolicyContext): Omit<Decision, 'warnings'> {
  const rules = parseRules(rulesFor(setting.trust, setting.rules))
  if (action.kind === 'bash') return decideLine(action, rules, setting)
  const guard = action.kind === 'edit' ? action.guard : undefined
  const matched = rulesAbout(action, guard ? rules.filter((one) => passesGuard(one, guard)) : rules, setting)
  const { isOpen, ...verdict } = conclude(action, { matched, hidden: [] }, setting)
  const isGrantable = isOpen && guard?.isAlways !== true
  const suggestions = isGrantable ? [suggestRule(action, setting)] : []
  return { ...verdict, suggestions, offered: suggestions }
}

/** Whether a rule holds for a protected path: all that restrict, and those that allow by its name. */
function passesGuard({ rule, forms: [form] }: ParsedRule, guard: EditGuard): boolean {
  if (rule.effect !== 'allow') return true
  return !guard.isAlways && form?.about === 'edit' && namesGuarded(form.path, guard)
}
