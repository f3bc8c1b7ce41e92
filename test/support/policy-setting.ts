import type { Effect, Rule, Setting } from '../../src/core/policy/types.ts'

/** A local turn in /ws that asks, with no rules. */
export function setting(more: Partial<Setting> = {}): Setting {
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

/** Rules written as `deny read(.env)`; each has its number as its source. */
export function ruleList(rules: readonly string[]): Rule[] {
  return rules.map((text, i) => {
    const [effect = '', ...pattern] = text.split(' ')
    return { effect: effect as Effect, pattern: pattern.join(' '), source: `rule ${i}` }
  })
}
