import type { PolicyDecision, PolicyRule } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { toWireMode } from '../state/modes.ts'
import type { SlashContext } from './types.ts'

/** A call as a model would make it. */
export interface ToolArguments {
  tool: string
  /** JSON text. */
  arguments: string
}

/**
 * Returns the policy's decision about a call in this chat with its current mode and rules. `also` are further
 * rules that allow.
 */
export async function explainPolicy(
  { tool, arguments: args }: ToolArguments,
  { dispatch, state, ports, rules }: SlashContext,
  { also = [], signal }: { also?: readonly string[]; signal: AbortSignal },
): Promise<PolicyDecision> {
  const { agent, sender, roots } = state()
  const message = {
    agent,
    sender,
    cwd: ports.cwd,
    tool,
    arguments: args,
    mode: toWireMode(state()),
    allow: [...rules.allow, ...also],
    ask: [...rules.ask],
    deny: [...rules.deny],
    roots: [...roots],
  }
  return request(dispatch, 'policyExplain', message, signal)
}

/** Formats a rule with its source. */
export function ruleText({ pattern, source }: PolicyRule): string {
  return `${pattern} (${source})`
}
