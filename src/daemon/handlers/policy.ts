import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { decide } from '../../core/policy/decide.ts'
import { openWorkspace } from '../../core/policy/paths.ts'
import { resolveRules } from '../../core/policy/resolve-rules.ts'
import { trustOf } from '../../core/policy/trust.ts'
import type { Action, Rule } from '../../core/policy/types.ts'
import {
  type ExplainPolicy,
  type PolicyDecision,
  PolicyEffect,
} from '../../core/protocol/crabtalk.generated.ts'
import { advance, type Conversation } from '../../core/runtime/conversation.ts'
import type { Services } from '../compose.ts'
import { readObject } from './json-text.ts'
import { standingRules, toPolicyEffect, toPolicyRule } from './mcp-policy.ts'
import type { Served } from './turns.ts'

/** A call that somebody wonders about. */
interface Question {
  tool: string
  args: JsonObject
  agent: AgentConfig
  /** Links resolved. */
  cwd: string
}

/**
 * `policy_explain`: what a turn would be told that makes this call now, by the rules such a turn has. Nothing is started,
 * and nothing is done.
 */
export async function policyExplain(
  { services, channel }: Served,
  { agent: name, sender: given, cwd, tool, arguments: text, allow, deny }: ExplainPolicy,
): Promise<PolicyDecision> {
  const { paths, homeDir, cwd: usual } = services.node
  const agent = await services.agents.get(name || DEFAULT_AGENT, { create: false })
  const sender = given || DEFAULT_SENDER
  const trust = trustOf(channel, sender)
  const talk = await findConversation(services, agent, sender)
  const workspace = await openWorkspace(cwd || talk?.header.cwd || usual)
  const args = text === '' ? {} : readObject('Cannot read the arguments', text)
  const rules = [
    ...toRules('allow', allow),
    ...toRules('deny', deny),
    ...(talk?.history.grants ?? []),
    ...(await standingRules(services, agent)),
  ]
  const place = { workspace, homeDir }
  const setting = {
    ...place,
    trust,
    mode: 'ask' as const,
    readable: talk ? [join(paths.cache, 'output', talk.id)] : [],
    rules: await resolveRules(rules, place),
  }
  const action = await describe(services, { tool, args, agent, cwd: workspace })
  if (action instanceof CrabError) return refusal(action, trust)
  const { effect, reason, rule, matched, suggestions } = decide(action, setting)
  return {
    effect: toPolicyEffect(effect),
    trust,
    reason,
    rule: rule && toPolicyRule(rule),
    matched: matched.map(toPolicyRule),
    suggestions: effect === 'allow' ? [] : [...suggestions],
    action: inWords(action),
  }
}

/** What the call would do, as its tool says; or why no rule at all could permit it. */
async function describe({ hook }: Services, question: Question): Promise<Action | CrabError> {
  const { tool, args, agent, cwd } = question
  try {
    const request = { args: { ...REQUIRED.get(tool), ...args }, agent, cwd }
    return (await hook.describe?.(tool, request)) ?? undescribed(tool, agent)
  } catch (reason) {
    if (reason instanceof CrabError && reason.kind === 'denied') return reason
    throw reason
  }
}

/** A tool that says nothing of itself, or that is not known because its server was never started. */
function undescribed(name: string, { mcps }: AgentConfig): Action {
  const server = mcps.find((entry) => name.startsWith(`mcp__${entry.name}__`))?.name
  if (server !== undefined) return { kind: 'mcp', name, server, tool: name.slice(`mcp__${server}__`.length) }
  if (name.startsWith('mcp__')) {
    const [, other = '', ...rest] = name.split('__')
    return { kind: 'mcp', name, server: other, tool: rest.join('__') }
  }
  return { kind: 'tool', name, harmless: false }
}

function refusal({ message }: CrabError, trust: string): PolicyDecision {
  const nothing = { rule: undefined, matched: [], suggestions: [] }
  return {
    effect: PolicyEffect.DENY,
    trust,
    reason: `${message}; no rule changes that`,
    action: '',
    ...nothing,
  }
}

async function findConversation(
  { place }: Services,
  { id: agentId }: AgentConfig,
  sender: string,
): Promise<Conversation | undefined> {
  const id = await place.storage.activeSession({ agentId, sender })
  return id === undefined ? undefined : advance(id, await place.storage.read(id), undefined)
}

function toRules(effect: 'allow' | 'deny', patterns: readonly string[]): Rule[] {
  return patterns.map((pattern) => ({ effect, pattern, source: `--${effect}` }))
}

function inWords(action: Action): string {
  switch (action.kind) {
    case 'read':
    case 'edit':
      return `${action.kind} ${action.path}`
    case 'bash':
      return `bash: ${action.command}`
    default:
      return action.name
  }
}

/** wire.md: a message that names none has this one. */
const DEFAULT_SENDER = 'user'

/** Arguments that a call must have and that no decision depends on. */
const REQUIRED: ReadonlyMap<string, JsonObject> = new Map([
  ['edit', { edits: [{ old: 'a', new: 'b' }] }],
  ['write', { content: '' }],
  ['glob', { pattern: '*' }],
  ['grep', { pattern: '.' }],
])
