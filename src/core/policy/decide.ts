import { rulesFor } from './class-rights.ts'
import { decideLine } from './decide-line.ts'
import { isProjectRule } from './project-rules.ts'
import { namesGuarded } from './protected-paths.ts'
import { type ParsedRule, parseRules, rulesAbout } from './read-rules.ts'
import { suggestRule } from './suggest.ts'
import type { Decision, EditGuard, PolicyAction, PolicyContext } from './types.ts'
import { conclude } from './verdict.ts'
import { warnAbout } from './wide-rules.ts'

/**
 * Decides about an action from the rules, the class of the turn and its mode (ADR 0071). Has no side effects.
 *
 * Throws `invalid` for an invalid rule; rules are validated where they enter.
 */
export function decide(action: PolicyAction, context: PolicyContext): Decision {
  const decision = decideAction(action, context)
  return { ...decision, warnings: decision.matched.flatMap(warnAbout) }
}

function decideAction(action: PolicyAction, context: PolicyContext): Omit<Decision, 'warnings'> {
  const rules = parseRules(rulesFor(context.trust, context.rules))
  if (action.kind === 'bash') return decideLine(action, rules, context)
  const guard = action.kind === 'edit' ? action.guard : undefined
  const about = rulesAbout(action, guard ? rules.filter((one) => passesGuard(one, guard)) : rules, context)
  const project = action.kind === 'mcp' ? action.project : undefined
  const matched = project ? about.filter((rule) => isProjectRule(rule, project)) : about
  const stored = about.find((rule) => !matched.includes(rule))
  const { isOpen, ...verdict } = conclude(action, { matched, hidden: [], stored }, context)
  const isGrantable = isOpen && guard?.isAlways !== true
  const suggestions = isGrantable ? [suggestRule(action, context)] : []
  return { ...verdict, suggestions, offered: suggestions, isSavable: !project }
}

/** Whether a rule applies to a protected path: all that restrict, and those that allow it by name. */
function passesGuard({ rule, forms: [form] }: ParsedRule, guard: EditGuard): boolean {
  if (rule.effect !== 'allow') return true
  return !guard.isAlways && form?.about === 'edit' && namesGuarded(form.path, guard)
}
