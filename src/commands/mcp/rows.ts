import {
  type McpPeer,
  type McpToolView,
  PolicyEffect,
  type PolicyRule,
} from '../../core/protocol/crabtalk.generated.ts'

/** Returns the name of a rule's effect. */
export function ruleEffectName(effect: PolicyEffect): string {
  return EFFECTS[effect]
}

/** Converts a tool of a server to its `--json` form. */
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

/** Converts a rule to its `--json` form. */
export function toJsonRule({ effect, pattern, source }: PolicyRule) {
  return { effect: ruleEffectName(effect), pattern, source }
}

/**
 * Returns a row of the table of tools; a tool that the agent does not get has its own name there, with the
 * reason.
 */
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

/** Converts the health of a server to JSON; empty and unknown values are null. */
export function toJsonHealth(
  peer: McpPeer | undefined,
  { error, lastErrorAt }: { error: string; lastErrorAt: string },
) {
  return {
    connected_at: peer?.connectedAt || null,
    last_ok_at: peer?.lastOkAt || null,
    last_error_at: lastErrorAt || peer?.lastErrorAt || null,
    error: error || null,
    failures: peer?.failures ?? 0,
    next_retry_at: peer?.nextRetryAt || null,
  }
}
