import { toCrabError } from '../../core/base/errors.ts'
import {
  type McpToolView,
  type PolicyDecision,
  PolicyEffect,
  type PolicyRule,
} from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { MODES } from '../controller/message.ts'
import { newPage } from '../overlays/page.ts'
import { inColumns, say, show } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/tools`: what the agent may call, and what the policy says of it as it stands. */
export async function showTools(_args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { agent, mode } = context.state()
  const builtIn = await Promise.all(BUILT_IN.map(async (tool) => await builtInRow(tool, context, signal)))
  const view = await request(context.dispatch, 'mcpView', { agent }, signal)
  const servers = view.agents.flatMap((one) => one.servers)
  const lines = [
    `Built in, in mode ${mode}; what a call may do depends on what it is about: /permissions bash(npm test)`,
    inColumns(builtIn.flatMap((row) => (row ? [row] : []))),
  ]
  for (const { name, tools, listed } of servers) {
    const rows = tools.map((tool): [string, string] => {
      const [first = '', ...rest] = toolRow(tool)
      return [first, rest.filter((text) => text !== '').join(' · ')]
    })
    lines.push(
      '',
      `MCP server ${name}${listed ? '' : ': its tools are not known before it has run'}`,
      inColumns(rows),
    )
  }
  if (servers.length === 0) lines.push('', `${agent} has no MCP servers`)
  show(context, newPage(`Tools of ${agent}`, lines.join('\n')))
}

/** `/permissions [CALL]`: the rules in force, or what they say of a call such as `bash(git push)`. */
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
  const lines = [
    `Mode ${mode}; Shift+Tab changes it.`,
    '',
    rules.length === 0 ? `Neither this chat nor the file of ${agent} has rules.` : inColumns(rules),
    '',
    'Besides: those of config.toml, and those you allowed in this conversation.',
    'What they all say of one call: /permissions bash(git push)',
  ]
  show(context, newPage(`Permissions of ${agent}`, lines.join('\n')))
}

/** A tool of a server as the model gets it: its name, what the policy says, why. */
export function toolRow({ name, remoteName, effect, rule, hidden, description }: McpToolView): string[] {
  if (hidden !== '') return [remoteName, 'hidden', hidden, description]
  return [name, effectName(effect), rule ? ruleText(rule) : 'no rule', description]
}

/** Tools that agents have without a server; what an agent's file leaves out is refused as such. */
const BUILT_IN = ['read', 'glob', 'grep', 'edit', 'write', 'bash', 'ask_user']

/** What holds for a call that is about nothing in particular. */
const SAMPLES: Readonly<Record<string, object>> = {
  bash: { command: 'true' },
  read: { path: '.' },
  edit: { path: 'a-new-file' },
  write: { path: 'a-new-file' },
}

async function builtInRow(
  tool: string,
  context: SlashContext,
  signal: AbortSignal,
): Promise<[string, string] | undefined> {
  try {
    const { effect, reason, rule } = await explain(tool, SAMPLES[tool] ?? {}, context, signal)
    return [tool, [effectName(effect), rule ? ruleText(rule) : reason].join(' · ')]
  } catch (reason) {
    const { kind, message } = toCrabError(reason)
    if (kind === 'cancelled') throw reason
    return kind === 'missing' ? undefined : [tool, message]
  }
}

async function explainCall(call: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const [, tool = '', inside = ''] = /^([^\s()]+)(?:\((.*)\))?$/s.exec(call) ?? []
  const key = MAIN_ARGUMENT[tool]
  if (tool === '' || (key !== undefined && inside.trim() === ''))
    return say(context, 'warning', `Cannot read the call ${call}`, 'for example /permissions bash(npm test)')
  const args = key === undefined ? {} : { [key]: inside }
  const { effect, reason, rule, matched, suggestions } = await explain(tool, args, context, signal)
  const others = matched.filter((one) => one.pattern !== rule?.pattern || one.source !== rule.source)
  context.act({
    type: 'print',
    block: {
      kind: 'output',
      title: `${effectName(effect)}: ${call}`,
      rows: [
        ['why', reason],
        ['rule', rule ? `${effectName(rule.effect)} ${ruleText(rule)}` : 'none matches'],
        ...others.map((one) => ['also', `${effectName(one.effect)} ${ruleText(one)}`]),
        ...suggestions.map((one) => ['to allow', one]),
      ],
    },
  })
}

const MAIN_ARGUMENT: Readonly<Record<string, string>> = {
  bash: 'command',
  read: 'path',
  edit: 'path',
  write: 'path',
}

async function explain(
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
    mode: MODES[mode],
    allow: [...rules.allow],
    ask: [...rules.ask],
    deny: [...rules.deny],
  }
  return request(dispatch, 'policyExplain', message, signal)
}

function fromChat({ rules }: SlashContext): [string, string][] {
  return (['deny', 'ask', 'allow'] as const).flatMap((effect) =>
    rules[effect].map((rule): [string, string] => [`${effect} ${rule}`, 'given to this chat']),
  )
}

/** The rules in an agent's configuration, and in that of its servers. */
function readRules(config: string): [string, string][] {
  const { permissions = {}, mcps = [] } = JSON.parse(config) as AgentRules
  const entries = mcps.map(({ name, permissions: own = {} }) => rulesOf(own, `for MCP server ${name}`))
  return [...rulesOf(permissions, "in the agent's file"), ...entries.flat()]
}

interface AgentRules {
  permissions?: Rules
  mcps?: readonly { name: string; permissions?: Rules }[]
}

type Rules = Partial<Record<'allow' | 'ask' | 'deny', readonly string[]>>

function rulesOf(rules: Rules, source: string): [string, string][] {
  return (['deny', 'ask', 'allow'] as const).flatMap((effect) =>
    (rules[effect] ?? []).map((rule): [string, string] => [`${effect} ${rule}`, source]),
  )
}

function effectName(effect: PolicyEffect): string {
  return EFFECTS[effect] ?? 'unknown'
}

const EFFECTS: Readonly<Record<number, string>> = {
  [PolicyEffect.ALLOW]: 'allowed',
  [PolicyEffect.ASK]: 'asked',
  [PolicyEffect.DENY]: 'refused',
}

function ruleText({ pattern, source }: PolicyRule): string {
  return `${pattern} (${source})`
}
