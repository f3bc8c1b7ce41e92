import { type McpToolView, PolicyEffect, type PolicyRule } from '../../core/protocol/crabtalk.generated.ts'

/** What a rule does, in words. */
export function ruleEffectName(effect: PolicyEffect): string {
  return EFFECTS[effect]
}

/** A tool of a server as `--json` gives it. */
export function toJsonTool(server: string, tool: McpToolView) {
  const { name, remoteName, effect, rule, hidden, description } = tool
  return {
    server,
    name: name || null,
    remote_name: remoteName,
    effect: hidden === '' ? ruleEffectName(effect) : null,
    rule: rule ? toJsonRule(rule) : null,
    hidden: hidden || null,
    description,
  }
}

/** A rule as `--json` gives it. */
export function toJsonRule({ effect, pattern, source }: PolicyRule) {
  return { effect: ruleEffectName(effect), pattern, source }
}

/** A row of the table of tools: those the agent does not get stand under their own name, with the reason. */
export function toToolRow({ name, remoteName, effect, rule, hidden, description }: McpToolView): string[] {
  if (hidden !== '') return [remoteName, 'hidden', hidden, description]
  const because = rule ? `${rule.pattern} (${rule.source})` : 'no rule'
  return [name, ruleEffectName(effect), because, description]
}

const EFFECTS: Record<PolicyEffect, string> = {
  [PolicyEffect.UNSPECIFIED]: 'unknown',
  [PolicyEffect.ALLOW]: 'allow',
  [PolicyEffect.ASK]: 'ask',
  [PolicyEffect.DENY]: 'deny',
}
