import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { decide } from '../../core/policy/decide.ts'
import type { Decision, PolicyContext, Rule, RuleEffect } from '../../core/policy/types.ts'
import { PolicyEffect, type PolicyRule } from '../../core/protocol/crabtalk.generated.ts'
import type { ToolView } from '../../mcp/types.ts'
import type { Services } from '../services.ts'

/** Returns the rules that apply to every turn of an agent: those of its file, then those of config.toml. */
export async function loadAgentRules(
  { agents, rules }: Pick<Services, 'agents' | 'rules'>,
  agent: AgentConfig,
): Promise<Rule[]> {
  return [...(await agents.rules(agent.name)), ...(await rules())]
}

/**
 * Judges a call of a server's tool in a turn of this user. Paths do not matter, so it needs no working
 * directory.
 */
export function judgeTool(
  { server, tool }: { server: string; tool: Pick<ToolView, 'name' | 'remoteName'> },
  rules: readonly Rule[],
): Decision {
  const setting: PolicyContext = {
    trust: 'local',
    rules,
    workspace: '/',
    readable: [],
    homeDir: '',
    mode: 'ask',
  }
  return decide({ kind: 'mcp', name: tool.name, server, tool: tool.remoteName }, setting)
}

/** Converts an effect to its wire form. */
export function toPolicyEffect(effect: RuleEffect): PolicyEffect {
  return EFFECTS[effect]
}

/** Converts a rule to its wire form. */
export function toPolicyRule({ effect, pattern, source }: Rule): PolicyRule {
  return { effect: toPolicyEffect(effect), pattern, source }
}

const EFFECTS = {
  allow: PolicyEffect.ALLOW,
  ask: PolicyEffect.ASK,
  deny: PolicyEffect.DENY,
} as const
