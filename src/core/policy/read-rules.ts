import type { RuleForm } from '../config/rule-syntax.ts'
import { commandMatcher, lineMatcher, matchesAction, parseRule, possibleMatcher } from './pattern.ts'
import type { PolicyAction, PolicyContext, Rule } from './types.ts'

/** A rule with what it means: as it is written, and with the links on its path resolved. */
export interface ParsedRule {
  rule: Rule
  forms: readonly RuleForm[]
  /** For a rule about some commands of bash: whether one, as commandText() gives it, is among them. */
  isAboutCommand?: (text: string) => boolean
  /** Whether one could be, when values of parameters in it were known. */
  mayBeAboutCommand?: (text: string) => boolean
  /** Whether a whole line, as it is written, has what a rule such as `bash(*.ssh*)` is about. */
  isAboutLine?: ((line: string) => boolean) | undefined
}

/** Reads rules. Throws `invalid` for one that is none. */
export function parseRules(rules: readonly Rule[]): ParsedRule[] {
  return rules.map((rule) => {
    const texts = rule.resolved === undefined ? [rule.pattern] : [rule.pattern, rule.resolved]
    const forms = texts.map(parseRule)
    const [form] = forms
    const words = form?.about === 'bash' ? form.words : undefined
    return {
      rule,
      forms,
      ...(words && {
        isAboutCommand: commandMatcher(words),
        mayBeAboutCommand: possibleMatcher(words),
        isAboutLine: lineMatcher(words),
      }),
    }
  })
}

/** Those that are about an action as a whole; rules for some commands of bash never are. */
export function rulesAbout(action: PolicyAction, rules: readonly ParsedRule[], place: PolicyContext): Rule[] {
  const matching = rules.filter(({ rule, forms }) => {
    return forms.some((form) => matchesAction(form, action, { place, isGenerous: isRestricting(rule) }))
  })
  return matching.map(({ rule }) => rule)
}

/** Whether a rule takes something away; such rules are compared generously. */
export function isRestricting({ effect }: Rule): boolean {
  return effect !== 'allow'
}
