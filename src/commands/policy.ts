import { resolve } from 'node:path'
import type { CommandHandler } from '../cli/command.ts'
import { printJson } from '../cli/print.ts'
import { sanitize } from '../core/base/sanitize.ts'
import { ApprovalMode, type PolicyDecision, type PolicyRule } from '../core/protocol/crabtalk.generated.ts'
import { request } from '../core/protocol/dispatch.ts'
import { attach } from '../daemon/attach.ts'
import { ruleEffectName, toJsonRule } from './mcp/rows.ts'
import { readPolicyCall } from './policy-call.ts'

/** Runs `crabtalk policy why`. */
export const explainPolicyCommand: CommandHandler = async ({ options, host, signal }) => {
  const { tool, args } = readPolicyCall(options.args[0] ?? '')
  const message = {
    agent: options.value('agent') ?? '',
    sender: options.value('sender') ?? '',
    cwd: resolve(host.cwd(), options.value('cwd') ?? '.'),
    tool,
    arguments: JSON.stringify(args),
    allow: [...options.values('allow')],
    deny: [...options.values('deny')],
    ask: [...options.values('ask')],
    mode: options.has('yolo') ? ApprovalMode.ALL : ApprovalMode.UNSPECIFIED,
  }
  await using attached = await attach(host)
  const decision = await request(attached.dispatch, 'policyExplain', message, signal)
  if (options.has('json')) return printJson(host, toJson(decision))
  const text = toLines(decision)
    .map(([name, value]) => `${name.padEnd(WIDTH)}  ${value}\n`)
    .join('')
  host.stdout.write(host.stdout.isTerminal ? sanitize(text) : text)
  return 0
}

function toLines({
  effect,
  reason,
  action,
  trust,
  rule,
  matched,
  suggestions,
  builtIn,
  warnings,
}: PolicyDecision): [string, string][] {
  const others = matched.filter((one) => !isSame(one, rule))
  const place = trust === 'local' ? '' : ` in [permissions.${trust}]`
  return [
    ['effect', ruleEffectName(effect)],
    ['why', reason],
    ['call', action],
    ['class', trust],
    ['rule', rule ? toText(rule) : builtIn === '' ? 'no rule matches' : `built in: ${builtIn}`],
    ...others.map((one): [string, string] => ['also', toText(one)]),
    ...suggestions.map((one): [string, string] => ['to allow', `${one}${place}`]),
    ...warnings.map((one): [string, string] => ['risk', one]),
  ]
}

function toText({ effect, pattern, source }: PolicyRule): string {
  return `${ruleEffectName(effect)} ${pattern} (${source})`
}

function isSame(a: PolicyRule, b: PolicyRule | undefined): boolean {
  return a.effect === b?.effect && a.pattern === b.pattern && a.source === b.source
}

function toJson(decision: PolicyDecision) {
  const { effect, reason, action, trust, rule, matched, suggestions, builtIn, warnings } = decision
  return {
    effect: ruleEffectName(effect),
    reason,
    action,
    trust,
    rule: rule ? toJsonRule(rule) : null,
    matched: matched.map(toJsonRule),
    suggestions,
    built_in: builtIn === '' ? null : builtIn,
    warnings,
  }
}

const WIDTH = 'to allow'.length + 1
