import type { PolicyContext, Rule, RuleEffect } from '../../src/core/policy/types.ts'

/** Builds a local turn in /ws that asks, with no rules. */
export function makePolicyContext(more: Partial<PolicyContext> = {}): PolicyContext {
  return {
    trust: 'local',
    workspace: '/ws',
    readable: [],
    homeDir: '/home/ann',
    mode: 'ask',
    rules: [],
    ...more,
  }
}

/**
 * Parses rules written as `deny read(.env)`, or `remote allow recall` for one class; the source of each is its
 * number.
 */
export function ruleList(rules: readonly string[]): Rule[] {
  return rules.map((text, i) => {
    const [, only, effect, pattern = ''] = /^(?:(remote|unattended) )?(\w+) (.*)$/s.exec(text) ?? []
    const rule: Rule = { effect: effect as RuleEffect, pattern, source: `rule ${i}` }
    return only === undefined ? rule : { ...rule, for: only as NonNullable<Rule['for']> }
  })
}
