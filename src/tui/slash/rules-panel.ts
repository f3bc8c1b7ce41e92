import { parseObject } from '../../core/base/json.ts'
import { describeProtected, READ_ONLY_NAMES } from '../../core/base/permission-lists.ts'
import { PolicyEffect, type RuleInfo, RuleScope } from '../../core/protocol/crabtalk.generated.ts'
import { describeRulePlace, effectName } from '../../core/questions/rule-text.ts'
import type { Panel, PanelRow } from '../overlays/types.ts'
import type { SlashContext } from './types.ts'

/** The rule of a row, as `change_rule` names it. */
export interface RuleTarget {
  scope: RuleScope
  effect: PolicyEffect
  pattern: string
  trust: string
}

/** The rule that stands for `read_only_commands = false`. */
export const READ_ONLY_RULE = 'read_only_commands'

/** Builds the panel of active rules: those of the chat, the stored ones, then the built-in ones. */
export function rulesPanel(
  rules: readonly RuleInfo[],
  { state, rules: own }: Pick<SlashContext, 'state' | 'rules'>,
  { selected = 0, note = '' }: { selected?: number; note?: string } = {},
): Panel {
  const { agent, mode } = state()
  const isOff = rules.some(({ rule }) => rule?.pattern === READ_ONLY_RULE)
  const rows = [...fromChat(own), ...rules.map(toRow), ...builtIn(isOff)]
  return {
    kind: 'panel',
    picker: 'permissions',
    title: `Permissions of ${agent} · mode ${mode}`,
    header: ['EFFECT', 'RULE', 'WHERE'],
    rows,
    selected: Math.max(0, Math.min(selected, rows.length - 1)),
    keys: [
      { key: 'm', label: 'matches' },
      { key: 'a', label: 'add' },
      { key: 'd', label: 'delete', confirm: 'delete this rule' },
    ],
    note,
  }
}

/** Parses the rule of a row; undefined for a row that has none. */
export function readRuleTarget(value: string): RuleTarget | undefined {
  const target = parseObject(value) ?? {}
  const scope = Object.values(RuleScope).find((one) => one === target['scope'])
  const effect = Object.values(PolicyEffect).find((one) => one === target['effect'])
  if (scope === undefined || effect === undefined) return undefined
  return { scope, effect, pattern: String(target['pattern']), trust: String(target['trust']) }
}

/** The text of the page about the read-only commands, and about the protected paths. */
export const BUILT_IN_PAGES: ReadonlyMap<string, { title: string; text: string }> = new Map([
  [
    'read-only',
    {
      title: 'Read-only commands',
      text: `These commands run without asking in the working directory and in added directories, with options that only read:\n\n${READ_ONLY_NAMES}`,
    },
  ],
  [
    'protected',
    {
      title: 'Protected paths',
      text: `These are changed only if a rule names them:\n\n${describeProtected().join('\n')}`,
    },
  ],
])

function fromChat(rules: SlashContext['rules']): PanelRow[] {
  return (['deny', 'ask', 'allow'] as const).flatMap((effect) =>
    rules[effect].map(
      (rule): PanelRow => ({ value: '', cells: [effect, rule, 'given to this chat'], problem: '' }),
    ),
  )
}

function toRow(info: RuleInfo): PanelRow {
  const { rule, scope, trust } = info
  const { effect, pattern } = rule ?? { effect: PolicyEffect.UNSPECIFIED, pattern: '' }
  const shown = pattern === READ_ONLY_RULE ? 'read-only commands' : pattern
  const value = scope === RuleScope.SERVER ? '' : JSON.stringify({ scope, effect, pattern, trust })
  return { value, cells: [effectName(effect), shown, describeRulePlace(info)], problem: '' }
}

function builtIn(isOff: boolean): PanelRow[] {
  const names = READ_ONLY_NAMES.split(', ').length
  const paths = describeProtected().length
  const readOnly = {
    value: 'read-only',
    cells: ['allow', `read-only commands (${names})`, 'built in'],
    problem: '',
  }
  const guarded = {
    value: 'protected',
    cells: ['ask', `protected paths (${paths})`, 'built in'],
    problem: '',
  }
  return isOff ? [guarded] : [readOnly, guarded]
}
