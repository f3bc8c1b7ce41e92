import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { sanitizeLine } from '../../core/base/sanitize.ts'
import { type PolicyEffect, type RuleInfo, RuleScope } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { describeRulePlace, effectName, readEffect } from '../../core/questions/rule-text.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk policy list`: prints the rules in force for an agent. */
export const listRulesCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host)
  const rules = await fetchRules(attached.dispatch, options, signal)
  if (options.has('json')) return printJson(host, rules.map(toJson))
  if (rules.length === 0) host.stderr.write('No rules: the agent asks before calls that change something\n')
  host.stdout.write(rules.map(toLine).join(''))
  return 0
}

/** Runs `crabtalk policy add`: adds a rule to the agent's file, or to config.toml. */
export const addRuleCommand: CommandHandler = async ({ options, host, signal }) =>
  await changeRule({ options, host, remove: false }, signal)

/** Runs `crabtalk policy remove`: removes a rule. */
export const removeRuleCommand: CommandHandler = async ({ options, host, signal }) =>
  await changeRule({ options, host, remove: true }, signal)

async function changeRule(
  { options, host, remove }: { options: ParsedOptions; host: Host; remove: boolean },
  signal: AbortSignal,
): Promise<number> {
  const pattern = options.args[0] ?? ''
  await using attached = await attach(host)
  const { dispatch } = attached
  const scope = options.has('all-agents') ? RuleScope.CONFIG : RuleScope.AGENT
  const agent = options.value('agent') ?? ''
  const trust = options.value('class') ?? ''
  const effect = remove
    ? await findEffect({ pattern, scope, trust }, await fetchRules(dispatch, options, signal), options)
    : (readEffect(options.value('effect') ?? 'allow') as PolicyEffect)
  const change = { agent, sender: '', scope, effect, pattern, remove, trust }
  const { rules } = await request(dispatch, 'changeRule', change, signal)
  const added = rules.find((one) => isSame(one, { pattern, scope, trust }) && one.rule?.effect === effect)
  const place = added && !remove ? ` (${describeRulePlace(added)})` : ''
  host.stdout.write(
    `${remove ? 'removed' : 'added'} ${effectName(effect)} ${sanitizeLine(pattern)}${place}\n`,
  )
  return 0
}

interface RuleKey {
  pattern: string
  scope: RuleScope
  trust: string
}

function isSame({ rule, scope, trust }: RuleInfo, key: RuleKey): boolean {
  return rule?.pattern === key.pattern && scope === key.scope && trust === key.trust
}

/** Returns the effect of the rule to remove, which must be given only when several lists have the rule. */
async function findEffect(
  key: RuleKey,
  rules: readonly RuleInfo[],
  options: ParsedOptions,
): Promise<PolicyEffect> {
  const named = options.value('effect')
  if (named !== undefined) return readEffect(named)!
  const found = rules.filter((one) => isSame(one, key)).flatMap(({ rule }) => (rule ? [rule] : []))
  const [only, ...more] = found
  if (only && more.length === 0) return only.effect
  if (only) {
    const effects = found.map(({ effect }) => effectName(effect)).join(', ')
    throw new CrabError('conflict', `Cannot remove "${key.pattern}": it is in several lists (${effects})`, {
      hint: 'choose one with --effect',
    })
  }
  const elsewhere = rules.find(({ rule }) => rule?.pattern === key.pattern)
  throw new CrabError('missing', `Cannot remove "${key.pattern}": it is not in that list`, {
    hint: elsewhere ? `it is in ${describeRulePlace(elsewhere)}` : 'crabtalk policy list shows the rules',
  })
}

async function fetchRules(
  dispatch: Dispatch,
  options: ParsedOptions,
  signal: AbortSignal,
): Promise<readonly RuleInfo[]> {
  const message = { agent: options.value('agent') ?? '', sender: options.value('sender') ?? '' }
  return (await request(dispatch, 'listRules', message, signal)).rules
}

function toLine(info: RuleInfo): string {
  const { effect, pattern } = info.rule!
  return `${effectName(effect).padEnd(EFFECT_WIDTH)}  ${sanitizeLine(pattern)}  (${sanitizeLine(describeRulePlace(info))})\n`
}

const EFFECT_WIDTH = 5

function toJson({ rule, scope, trust }: RuleInfo) {
  const { effect, pattern, source } = rule!
  return {
    effect: effectName(effect),
    rule: pattern,
    source,
    scope: SCOPES.get(scope) ?? 'unknown',
    class: trust || 'local',
  }
}

const SCOPES: ReadonlyMap<RuleScope, string> = new Map([
  [RuleScope.CONVERSATION, 'conversation'],
  [RuleScope.AGENT, 'agent'],
  [RuleScope.CONFIG, 'config'],
  [RuleScope.SERVER, 'server'],
])
