import { PolicyEffect, type PolicyRule, type RuleInfo, RuleScope } from '../protocol/crabtalk.generated.ts'

/** Names the effect of a rule in one word. */
export function effectName(effect: PolicyEffect): string {
  return EFFECTS.get(effect) ?? 'unknown'
}

/** Returns the effect with a name; undefined for any other word. */
export function readEffect(name: string): PolicyEffect | undefined {
  return [...EFFECTS].find(([, one]) => one === name)?.[0]
}

/** Describes in a few words where a rule is kept, and for which class of turns. */
export function describeRulePlace({ rule, scope, trust }: RuleInfo): string {
  const { source } = rule ?? NO_RULE
  const place = scope === RuleScope.SERVER ? `${source}, entry of a server` : source
  return trust === '' ? place : `${place}, ${trust} turns`
}

const NO_RULE: Pick<PolicyRule, 'source'> = { source: '' }

const EFFECTS: ReadonlyMap<PolicyEffect, string> = new Map([
  [PolicyEffect.ALLOW, 'allow'],
  [PolicyEffect.ASK, 'ask'],
  [PolicyEffect.DENY, 'deny'],
])
