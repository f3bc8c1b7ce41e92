import { parseObject } from '../../core/base/json.ts'
import { PolicyEffect, RuleScope } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { effectName, readEffect } from '../../core/questions/rule-text.ts'
import { newPage } from '../overlays/page.ts'
import type { ChatEffect } from '../text/effects.ts'
import { withSent } from '../text/prompt-state.ts'
import { explainPolicy, ruleText } from './explain-policy.ts'
import { printNotice, printRows, showOverlay } from './print.ts'
import { describeMatches, matchCalls } from './rule-matches.ts'
import { BUILT_IN_PAGES, READ_ONLY_RULE, type RuleTarget, readRuleTarget, rulesPanel } from './rules-panel.ts'
import type { SlashContext } from './types.ts'

/**
 * `/permissions`: shows the rules in force; with a call such as `bash(git push)` their decision about it, and what
 * it would match as a rule; `add` and `remove` change a rule.
 */
export async function showPermissions(
  args: string,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const [, verb, rest = ''] = /^(add|remove)\b\s*(.*)$/s.exec(args) ?? []
  if (verb !== undefined) return changeTypedRule(rest, verb === 'remove', context, signal)
  if (args !== '') return explainCall(args, context, signal)
  showOverlay(context, rulesPanel(await listRules(context, signal), context))
}

/** Carries out a key of the panel. */
export async function actOnRule(
  { value, key }: Pick<ChatEffect & { type: 'chosen' }, 'value' | 'key'>,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  if (key === 'a') return startAdding(context)
  const target = readRuleTarget(value)
  if (key === 'd') return await deleteRule(value, target, context, signal)
  const { overlay } = context.state()
  const builtIn = BUILT_IN_PAGES.get(value)
  if (builtIn) return showOverlay(context, newPage(builtIn.title, builtIn.text, overlay))
  if (!target || target.pattern === READ_ONLY_RULE)
    return showNote('Only rules with a pattern have matches', context, signal)
  const matches = await matchCalls(target.pattern, context, signal)
  const text = [describeMatches(matches), '', ...matches.matching].join('\n')
  showOverlay(context, newPage(`Matches of ${target.pattern}`, text, overlay))
}

async function listRules({ dispatch, state }: SlashContext, signal: AbortSignal) {
  const { agent, sender } = state()
  return (await request(dispatch, 'listRules', { agent, sender }, signal)).rules
}

/** Closes the panel and begins the command that adds a rule in the prompt. */
function startAdding({ act, state }: SlashContext): void {
  const prompt = withSent(state().prompt, '/permissions add allow ')
  const hint =
    'Type a rule and where to keep it: agent, config or conversation. For example bash(npm test *) in config'
  act({ type: 'set', change: { overlay: undefined, prompt, hint } })
}

async function deleteRule(
  value: string,
  target: RuleTarget | undefined,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  if (value === 'read-only') {
    const off = { scope: RuleScope.CONFIG, effect: PolicyEffect.ASK, pattern: READ_ONLY_RULE, trust: '' }
    return await changeAndShow(
      { ...off, remove: false },
      'The agent now asks before read-only commands',
      context,
      signal,
    )
  }
  if (!target)
    return showNote('Cannot delete this rule here: edit it in the file that the panel names', context, signal)
  const note = target.pattern === READ_ONLY_RULE ? 'Read-only commands run without asking again' : 'Deleted'
  await changeAndShow({ ...target, remove: true }, note, context, signal)
}

async function changeAndShow(
  change: RuleTarget & { remove: boolean },
  note: string,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const { agent, sender } = context.state()
  const { rules } = await request(context.dispatch, 'changeRule', { agent, sender, ...change }, signal)
  const { overlay } = context.state()
  const selected = overlay?.kind === 'panel' ? overlay.selected : 0
  showOverlay(context, rulesPanel(rules, context, { selected, note }))
}

/** Shows the panel again, with a note below it. */
async function showNote(note: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { overlay } = context.state()
  const selected = overlay?.kind === 'panel' ? overlay.selected : 0
  showOverlay(context, rulesPanel(await listRules(context, signal), context, { selected, note }))
}

const SCOPES: ReadonlyMap<string, RuleScope> = new Map([
  ['conversation', RuleScope.CONVERSATION],
  ['agent', RuleScope.AGENT],
  ['config', RuleScope.CONFIG],
])

/** Adds or removes the rule of a line such as `allow bash(npm test *) in config`. */
async function changeTypedRule(
  text: string,
  remove: boolean,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const [, name = '', pattern = '', place = 'agent'] =
    /^(allow|ask|deny)\s+(\S.*?)(?:\s+in\s+(conversation|agent|config))?\s*$/s.exec(text) ?? []
  const effect = readEffect(name)
  const scope = SCOPES.get(place)
  if (effect === undefined || scope === undefined || pattern === '') {
    const example = `/permissions ${remove ? 'remove' : 'add'} allow bash(npm test *) in agent`
    return printNotice(
      context,
      'warning',
      'Cannot read the rule: it must be allow, ask or deny, a pattern, and a place',
      `for example ${example}; or in config, in conversation`,
    )
  }
  const { agent, sender } = context.state()
  const change = { agent, sender, scope, effect, pattern, remove, trust: '' }
  const { rules } = await request(context.dispatch, 'changeRule', change, signal)
  const rule = rules.find((one) => one.scope === scope && one.rule?.pattern === pattern)?.rule
  const where = rule?.source ?? place
  printNotice(context, 'success', remove ? `Removed: ${name} ${pattern}` : `${name} ${pattern} (${where})`)
  if (remove) return
  const matches = await matchCalls(pattern, context, signal)
  if (matches.total > 0) printRows(context, '', [['matches', describeMatches(matches)]])
}

async function explainCall(call: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const [, tool = '', inside] = /^([^\s()]+)(?:\((.*)\))?$/s.exec(call) ?? []
  const key = MAIN_ARGUMENT[tool]
  if (tool === '' || (key !== undefined && (inside ?? '').trim() === ''))
    return printNotice(
      context,
      'warning',
      `Cannot read the call ${call}`,
      'for example /permissions bash(npm test)',
    )
  const args =
    key === undefined ? JSON.stringify(parseObject(inside ?? '') ?? {}) : JSON.stringify({ [key]: inside })
  const decision = await explainPolicy({ tool, arguments: args }, context, { signal })
  const { effect, reason, rule, matched, suggestions, builtIn, warnings } = decision
  const others = matched.filter((one) => one.pattern !== rule?.pattern || one.source !== rule.source)
  const matches = await matchCalls(call, context, signal)
  printRows(context, `${effectName(effect)}: ${call}`, [
    ['why', reason],
    [
      'rule',
      rule
        ? `${effectName(rule.effect)} ${ruleText(rule)}`
        : builtIn
          ? `built in: ${builtIn}`
          : 'none matches',
    ],
    ...others.map((one) => ['also', `${effectName(one.effect)} ${ruleText(one)}`]),
    ...suggestions.map((one) => ['to allow', one]),
    ...warnings.map((one) => ['risk', one]),
    ...(matches.total > 0 ? [['as a rule', `matches ${describeMatches(matches)}`]] : []),
  ])
}

const MAIN_ARGUMENT: Readonly<Record<string, string>> = {
  bash: 'command',
  read: 'path',
  edit: 'path',
  write: 'path',
}
