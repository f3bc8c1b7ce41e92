import { type PolicyDecision, PolicyEffect, type PolicyRule } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { WIRE_MODES } from '../state/modes.ts'
import type { SlashContext } from './types.ts'

/** Returns the policy's decision about a call in this chat with its current mode and rules. */
export async function explainPolicy(
  tool: string,
  args: object,
  { dispatch, state, ports, rules }: SlashContext,
  signal: AbortSignal,
): Promise<PolicyDecision> {
  const { agent, sender, mode } = state()
  const message = {
    agent,
    sender,
    cwd: ports.cwd,
    tool,
    arguments: JSON.stringify(args),
    mode: WIRE_MODES[mode],
    allow: [...rules.allow],
    ask: [...rules.ask],
    deny: [...rules.deny],
  }
  return request(dispatch, 'policyExplain', message, signal)
}

/** Describes a decision in one word. */
export function decisionName(effect: PolicyEffect): string {
  return EFFECTS[effect] ?? 'unknown'
}

const EFFECTS: Readonly<Record<number, string>> = {
  [PolicyEffect.ALLOW]: 'allowed',
  [PolicyEffect.ASK]: 'asked',
  [PolicyEffect.DENY]: 'refused',
}

/** Formats a rule with its source. */
export function ruleText({ pattern, source }: PolicyRule): string {
  return `${pattern} (${source})`
}
