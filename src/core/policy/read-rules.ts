import type { RuleForm } from '../config/rule-syntax.ts'
import { commandMatcher, lineMatcher, matchesAction, parseRule, possibleMatcher } from './pattern.ts'
import type { PolicyAction, PolicyContext, Rule } from './types.ts'

/** A rule with its parsed forms: as written, and with the links on its path resolved. */
export interface ParsedRule {
  rule: Rule
  forms: readonly RuleForm[]
  /** Tests whether a command, in the form of commandText(), matches. Only on rules about some bash commands. */
  isAboutCommand?: (text: string) => boolean
  /** Tests whether a command could match if the values of its parameters were known. */
  mayBeAboutCommand?: (text: string) => boolean
  /** Tests whether an entire line contains the text of a rule such as `bash(*.ssh*)`. */
  isAboutLine?: ((line: string) => boolean) | undefined
}

/** Parses rules. Throws `invalid` for an invalid one. */
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

/** Returns the rules that match an action as a whole. Rules about some bash commands never do. */
export function rulesAbout(
  action: PolicyAction,
  rules: readonly ParsedRule[],
  context: PolicyContext,
): Rule[] {
  const matching = rules.filter(({ rule, forms }) => {
    return forms.some((form) => matchesAction(form, action, { context, isGenerous: isRestricting(rule) }))
  })
  return matching.map(({ rule }) => rule)
}

/** Whether a rule denies or asks. Such rules are compared generously. */
export function isRestricting({ effect }: Rule): boolean {
  return effect !== 'allow'
}
