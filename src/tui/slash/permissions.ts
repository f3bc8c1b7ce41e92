import { describeProtected, READ_ONLY_NAMES } from '../../core/base/permission-lists.ts'
import { type PolicyDecision, PolicyEffect, type PolicyRule } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { newPage } from '../overlays/page.ts'
import { WIRE_MODES } from '../state/modes.ts'
import { inColumns, printNotice, printRows, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/permissions [CALL]`: shows the rules in force, or their decision about a call such as `bash(git push)`. */
export async function showPermissions(
  args: string,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  if (args !== '') return explainCall(args, context, signal)
  const { agent, mode } = context.state()
  const info = await request(context.dispatch, 'getAgent', { name: agent }, signal)
  const own = readRules(info.config)
  const rules = [...fromChat(context), ...own]
  const protectedPaths = describeProtected()
  const lines = [
    `Mode ${mode}; Shift+Tab changes it.`,
    '',
    rules.length === 0 ? `No rules in this chat or in agents/${agent}.toml` : inColumns(rules),
    '',
    'Also in force: the rules of config.toml, and those you allowed in this conversation.',
    `Read-only commands run without asking in the working directory (${READ_ONLY_NAMES.split(', ').length}): ${READ_ONLY_NAMES}.`,
    `Protected paths, changed only when a rule names them (${protectedPaths.length}): ${protectedPaths.join(', ')}.`,
    'To test one call: /permissions bash(git push)',
  ]
  showOverlay(context, newPage(`Permissions of ${agent}`, lines.join('\n')))
}

async function explainCall(call: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const [, tool = '', inside = ''] = /^([^\s()]+)(?:\((.*)\))?$/s.exec(call) ?? []
  const key = MAIN_ARGUMENT[tool]
  if (tool === '' || (key !== undefined && inside.trim() === ''))
    return printNotice(
      context,
      'warning',
      `Cannot read the call ${call}`,
      'for example /permissions bash(npm test)',
    )
  const args = key === undefined ? {} : { [key]: inside }
  const { effect, reason, rule, matched, suggestions, builtIn, warnings } = await explainPolicy(
    tool,
    args,
    context,
    signal,
  )
  const others = matched.filter((one) => one.pattern !== rule?.pattern || one.source !== rule.source)
  printRows(context, `${decisionName(effect)}: ${call}`, [
    ['why', reason],
    [
      'rule',
      rule
        ? `${decisionName(rule.effect)} ${ruleText(rule)}`
        : builtIn
          ? `built in: ${builtIn}`
          : 'none matches',
    ],
    ...others.map((one) => ['also', `${decisionName(one.effect)} ${ruleText(one)}`]),
    ...suggestions.map((one) => ['to allow', one]),
    ...warnings.map((one) => ['risk', one]),
  ])
}

const MAIN_ARGUMENT: Readonly<Record<string, string>> = {
  bash: 'command',
  read: 'path',
  edit: 'path',
  write: 'path',
}

function fromChat({ rules }: SlashContext): [string, string][] {
  return (['deny', 'ask', 'allow'] as const).flatMap((effect) =>
    rules[effect].map((rule): [string, string] => [`${effect} ${rule}`, 'given to this chat']),
  )
}

/** Lists the rules in an agent's configuration and in those of its servers. */
function readRules(config: string): [string, string][] {
  const { permissions = {}, mcps = [] } = JSON.parse(config) as AgentRules
  const entries = mcps.map(({ name, permissions: own = {} }) => toRuleRows(own, `for MCP server ${name}`))
  const { unattended = {}, remote = {} } = permissions
  return [
    ...toRuleRows(permissions, "in the agent's file"),
    ...toRuleRows(unattended, "in the agent's file, for unattended turns"),
    ...toRuleRows(remote, "in the agent's file, for untrusted clients"),
    ...entries.flat(),
  ]
}

interface AgentRules {
  permissions?: Rules & { unattended?: Rules; remote?: Rules }
  mcps?: readonly { name: string; permissions?: Rules }[]
}

type Rules = Partial<Record<'allow' | 'ask' | 'deny', readonly string[]>>

function toRuleRows(rules: Rules, source: string): [string, string][] {
  return (['deny', 'ask', 'allow'] as const).flatMap((effect) =>
    (rules[effect] ?? []).map((rule): [string, string] => [`${effect} ${rule}`, source]),
  )
}

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
  [PolicyEffect.ALLOW]: 'allow',
  [PolicyEffect.ASK]: 'ask',
  [PolicyEffect.DENY]: 'deny',
}

/** Formats a rule with its source. */
export function ruleText({ pattern, source }: PolicyRule): string {
  return `${pattern} (${source})`
}
