import { CrabError } from '../../core/base/errors.ts'
import { addConfigRule, changeConfig } from '../../core/config/change-config.ts'
import { type RuleChange, requireRule, toMergePatch, withRuleChange } from '../../core/config/change-rule.ts'
import { entryRules } from '../../core/config/entry-rules.ts'
import { READ_ONLY_COMMANDS_RULE } from '../../core/config/rule-syntax.ts'
import { completePair } from '../../core/policy/client-senders.ts'
import type { Rule, RuleEffect } from '../../core/policy/types.ts'
import {
  type ChangeRule,
  type ListRules,
  PolicyEffect,
  type RuleInfo,
  type RuleList,
  RuleScope,
} from '../../core/protocol/crabtalk.generated.ts'
import { changeGrant } from '../../core/runtime/change-grant.ts'
import { advance } from '../../core/runtime/conversation.ts'
import type { Services } from '../services.ts'
import { toPolicyRule } from './mcp-policy.ts'

type RuleServices = Pick<
  Services,
  'node' | 'agents' | 'stores' | 'rules' | 'running' | 'agentSync' | 'reloads' | 'journals'
>

/** Handles `list_rules`: returns the active rules of an agent and one of its conversations. */
export async function listRules(
  services: Pick<Services, 'agents' | 'stores' | 'rules'>,
  message: ListRules,
): Promise<RuleList> {
  const { agents, rules } = services
  const { agent, sender } = completePair('local', message)
  const { name, id: agentId, mcps } = await agents.get(agent, { create: false })
  const grants = message.sender === '' ? [] : await readGrants(services, { agentId, sender })
  const ofAgent = await agents.rules(name) // those of the agent itself, then those of its servers
  const own = ofAgent.length - mcps.flatMap((entry) => entryRules(entry, () => '')).length
  return {
    rules: [
      ...grants.map((rule) => toInfo(rule, RuleScope.CONVERSATION)),
      ...ofAgent.map((rule, at) => toInfo(rule, at < own ? RuleScope.AGENT : RuleScope.SERVER)),
      ...(await rules()).map((rule) => toInfo(rule, RuleScope.CONFIG)),
    ],
  }
}

/** Handles `change_rule`: adds or removes a rule, and returns the rules afterwards. */
export async function changeRule(
  services: RuleServices,
  message: ChangeRule,
  signal: AbortSignal,
): Promise<RuleList> {
  const { pattern, remove, scope, trust } = message
  const effect = EFFECTS.get(message.effect)
  if (effect === undefined)
    throw new CrabError('invalid', 'Cannot change the rule: its effect is missing', {
      hint: 'set effect to allow, ask or deny',
    })
  const change: RuleChange = { effect, pattern, remove, ...toClass(trust) }
  const { agents, agentSync } = services
  const { agent, sender } = completePair('local', message)
  const { name, id: agentId } = await agents.get(agent)
  switch (scope) {
    case RuleScope.AGENT:
      if (isPlainAddition(change)) await agents.addRule(name, pattern, effect)
      else await agents.update(name, (table) => toMergePatch(table, withRuleChange(table, change)))
      await agentSync.changed(name)
      break
    case RuleScope.CONFIG:
      await changeConfigRule(services, change, signal)
      break
    case RuleScope.CONVERSATION:
      await changeConversationRule(services, { pair: { agentId, sender }, agent: name, change }, signal)
      break
    default:
      throw new CrabError('invalid', 'Cannot change the rule: it is in the entry of an MCP server', {
        hint: "edit permissions there, in the agent's file",
      })
  }
  return await listRules(services, message)
}

function toClass(trust: string): Pick<RuleChange, 'for'> {
  if (trust === '') return {}
  if (trust === 'unattended' || trust === 'remote') return { for: trust }
  throw new CrabError('invalid', `Cannot change the rule: there is no class "${trust}"`, {
    hint: 'choose unattended or remote',
  })
}

/** Whether a change adds to a list of `[permissions]` itself, which a file keeps best when it is appended. */
function isPlainAddition({ remove, pattern, for: trust }: RuleChange): boolean {
  return !remove && trust === undefined && pattern !== READ_ONLY_COMMANDS_RULE
}

async function changeConfigRule(
  { node, stores, reloads }: RuleServices,
  change: RuleChange,
  signal: AbortSignal,
): Promise<void> {
  {
    await using _ = await stores.leases.take(`file:${node.paths.config}`, signal)
    if (isPlainAddition(change)) await addConfigRule(node.paths, requireRule(change))
    else await changeConfig(node.paths, (table) => withRuleChange(table, change))
  }
  await reloads.all(signal)
}

async function changeConversationRule(
  services: RuleServices,
  { pair, agent, change }: { pair: { agentId: string; sender: string }; agent: string; change: RuleChange },
  signal: AbortSignal,
): Promise<void> {
  const { effect, pattern, remove } = change
  if (effect !== 'allow')
    throw new CrabError('invalid', 'Cannot change the rule: a conversation can only have allow rules', {
      hint: 'keep it in the agent or in config',
    })
  const session = await services.stores.storage.activeSession(pair)
  if (session === undefined)
    throw new CrabError('missing', 'Cannot change the rule: the conversation has no messages yet', {
      hint: 'send a message first, or keep the rule in the agent',
    })
  await changeGrant(services, { session, agent, pattern, remove }, signal)
}

async function readGrants(
  { stores }: Pick<Services, 'stores'>,
  pair: { agentId: string; sender: string },
): Promise<readonly Rule[]> {
  const id = await stores.storage.activeSession(pair)
  return id === undefined ? [] : advance(id, await stores.storage.read(id)).history.grants
}

function toInfo(rule: Rule, scope: RuleScope): RuleInfo {
  return { rule: toPolicyRule(rule), scope, trust: rule.for ?? '' }
}

const EFFECTS: ReadonlyMap<PolicyEffect, RuleEffect> = new Map([
  [PolicyEffect.ALLOW, 'allow'],
  [PolicyEffect.ASK, 'ask'],
  [PolicyEffect.DENY, 'deny'],
])
