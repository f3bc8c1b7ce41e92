import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { completePair } from '../../core/policy/client-senders.ts'
import { decide } from '../../core/policy/decide.ts'
import { openWorkspace, resolvePath } from '../../core/policy/paths.ts'
import { resolveRules } from '../../core/policy/resolve-rules.ts'
import { classifyTurn } from '../../core/policy/trust.ts'
import type { PolicyAction } from '../../core/policy/types.ts'
import {
  type ExplainPolicy,
  type PolicyDecision,
  PolicyEffect,
} from '../../core/protocol/crabtalk.generated.ts'
import { advance, type Conversation } from '../../core/runtime/conversation.ts'
import { flagRules } from '../../core/runtime/turn-plan.ts'
import { toBuiltAgent } from '../built-agent.ts'
import type { Services } from '../services.ts'
import { readObject } from './json-text.ts'
import { loadAgentRules, toPolicyEffect, toPolicyRule } from './mcp-policy.ts'
import { describeAction, describeCallAction, type PossibleCall } from './policy-action.ts'
import type { RequestContext } from './request-context.ts'
import { RUNTIME_MODES, refuseWidening, requireAbsolute } from './turn-message.ts'

/**
 * Handles `policy_explain`: returns the decision that a turn making this call now would get, under the rules
 * of such a turn. Starts nothing and changes nothing. Throws `denied`, as the turn would, for options that
 * its class may not use.
 */
export async function policyExplain(
  {
    services,
    channel,
  }: RequestContext<'node' | 'agents' | 'stores' | 'hook' | 'mcp' | 'rules' | 'defaultCwd'>,
  message: ExplainPolicy,
  signal: AbortSignal,
): Promise<PolicyDecision> {
  const { cwd, tool, arguments: text, allow, deny, ask, mode, roots } = message
  const { paths, homeDir, cwd: usual } = services.node
  const { agent: name, sender } = completePair(channel, message)
  const agent = toBuiltAgent(services, await services.agents.get(name, { create: false }))
  const trust = classifyTurn(channel, sender)
  if (trust !== 'local') refuseWidening({ allow, mode, roots, env: {}, mcps: [] }, sender, trust)
  const conversation = await findConversation(services, agent, sender)
  const chosen = cwd || conversation?.header.cwd || usual
  const workspace = await openWorkspace(
    trust === 'local'
      ? chosen
      : await services.defaultCwd({ agent: agent.name, agentId: agent.id, sender }, trust),
  )
  const args = text === '' ? {} : readObject('Cannot read the arguments', text)
  const rules = [
    ...flagRules({ allow, ask, deny }),
    ...(conversation?.history.grants ?? []),
    ...(await loadAgentRules(services, agent)),
  ]
  const place = { workspace, homeDir }
  const added = await Promise.all(roots.map((root) => openWorkspace(requireAbsolute(root))))
  const setting = {
    ...place,
    roots: added,
    trust,
    mode: RUNTIME_MODES.get(mode) ?? agent.mode ?? 'ask',
    readable: conversation ? [await resolvePath(join(paths.cache, 'output', conversation.id), place)] : [],
    rules: await resolveRules(rules, place),
  }
  const action = await describeOrRefuse(services, { tool, args, agent, cwd: workspace, roots: added }, signal)
  if (action instanceof CrabError) return toRefusal(action, { trust, call: describeRefused(tool, args) })
  const { effect, reason, rule, matched, suggestions, builtIn = '', warnings } = decide(action, setting)
  return {
    effect: toPolicyEffect(effect),
    trust,
    reason,
    rule: rule && toPolicyRule(rule),
    matched: matched.map(toPolicyRule),
    suggestions: effect === 'allow' ? [] : [...suggestions],
    action: describeAction(action),
    builtIn,
    warnings: [...warnings],
  }
}

/** Returns an error of kind `denied` for what no rule can permit, such as the files of crabtalk itself. */
async function describeOrRefuse(
  services: Pick<Services, 'hook' | 'mcp'>,
  call: PossibleCall,
  signal: AbortSignal,
): Promise<PolicyAction | CrabError> {
  try {
    return await describeCallAction(services, call, signal)
  } catch (reason) {
    if (reason instanceof CrabError && reason.kind === 'denied') return reason
    throw reason
  }
}

function toRefusal({ message }: CrabError, { trust, call }: { trust: string; call: string }): PolicyDecision {
  const nothing = { rule: undefined, matched: [], suggestions: [], builtIn: '', warnings: [] }
  return {
    effect: PolicyEffect.DENY,
    trust,
    reason: `${message}; no rule can change that`,
    action: call,
    ...nothing,
  }
}

/** Describes a call that is refused before its path or its tool is looked up. */
function describeRefused(tool: string, { path, command }: JsonObject): string {
  if (typeof path === 'string') return `${tool} ${path}`
  return typeof command === 'string' ? `${tool}: ${command}` : tool
}

async function findConversation(
  { stores }: Pick<Services, 'stores'>,
  { id: agentId }: AgentConfig,
  sender: string,
): Promise<Conversation | undefined> {
  const id = await stores.storage.activeSession({ agentId, sender })
  return id === undefined ? undefined : advance(id, await stores.storage.read(id))
}
