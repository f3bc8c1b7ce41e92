import { DEFAULT_CHAT_SETTINGS } from '../../core/base/chat-settings.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { newPicker } from '../overlays/picker.ts'
import type { Panel } from '../overlays/types.ts'
import { withSent } from '../text/prompt-state.ts'
import { changeSetting } from './change-setting.ts'
import { showKeys } from './keys.ts'
import { hint, printNotice, showOverlay } from './print.ts'
import { formatSetting, SETTING_ROWS, type SettingRow } from './setting-rows.ts'
import { showStatusParts } from './status-parts.ts'
import { showThemes } from './themes.ts'
import type { SlashContext } from './types.ts'

/** `/config`: shows the settings; `/config KEY` shows one, `/config KEY VALUE` changes it. */
export async function slashConfig(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const [, key = '', text = ''] = /^(\S*)\s*(.*)$/s.exec(args) ?? []
  if (key === '') return showSettings(context)
  const [name = '', ...inner] = key.replace(/^tui\./, '').split('.')
  const row = SETTING_ROWS.find((one) => one.key === name)
  if (!row || (inner.length > 0 && row.kind !== 'table')) {
    const names = SETTING_ROWS.map((one) => one.key)
    return printNotice(
      context,
      'warning',
      `Unknown setting ${key}`,
      didYouMean(key, names) ?? '/config lists the settings',
    )
  }
  if (text === '') {
    if (inner.length === 0) return changeRow(row, context, signal)
    return hint(context, `/config ${key} VALUE sets it; /config ${key} default removes it`)
  }
  await changeSetting([name, ...inner], readValue(row, text), context, signal)
  hint(context, `${key} = ${text}`)
}

/** Handles a key of the panel: changes the selected setting, or sets it back to its default. */
export async function onSettingKey(
  { value, key }: { value: string; key?: string | undefined },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const row = SETTING_ROWS.find((one) => one.key === value)
  if (!row) return
  if (key !== 'r') return changeRow(row, context, signal)
  await changeSetting([row.key], undefined, context, signal)
  showSettings(context, row.key, `${row.key} was reset to its default`)
}

/** Handles the choice of a value; `picker` is `setting:` and the key. */
export async function onSettingChosen(
  { picker, value }: { picker: string; value: string },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const key = picker.slice(SETTING.length)
  await changeSetting([key], value, context, signal)
  showSettings(context, key, `${key} = ${value}`)
}

/** The beginning of the name of a picker that chooses the value of a setting. */
export const SETTING = 'setting:'

async function changeRow(row: SettingRow, context: SlashContext, signal: AbortSignal): Promise<void> {
  const value = row.read(context.state().settings)
  switch (row.kind) {
    case 'switch':
      await changeSetting([row.key], value !== true, context, signal)
      return showSettings(context, row.key, `${row.key} = ${value === true ? 'off' : 'on'}`)
    case 'choice':
      return row.key === 'theme' ? showThemes(context) : showChoices(row, value, context)
    case 'parts':
      return showStatusParts(context)
    case 'number':
      return typeCommand(`/config ${row.key} `, context)
    case 'table':
      return row.key === 'keys' ? showKeys('', context) : typeCommand(`/config ${row.key}.`, context)
  }
}

/** Puts the command into the prompt, so that the user can type its value. */
function typeCommand(line: string, context: SlashContext): void {
  const { prompt } = context.state()
  context.act({ type: 'set', change: { overlay: undefined, prompt: withSent(prompt, line) } })
}

function showChoices(
  { key, summary, choices = [] }: SettingRow,
  value: unknown,
  context: SlashContext,
): void {
  const items = choices.map((one) => ({ value: one, label: one, detail: '', isCurrent: one === value }))
  showOverlay(context, newPicker({ picker: SETTING + key, title: `${key}: ${summary}`, items }))
}

/** Opens the panel of all settings, with a row selected. */
function showSettings(context: SlashContext, selected = '', note = ''): void {
  const { settings } = context.state()
  const panel: Panel = {
    kind: 'panel',
    picker: 'config',
    title: 'Settings: [tui] in config.toml',
    header: ['SETTING', 'VALUE', 'MEANING'],
    hasWideEnd: true,
    rows: SETTING_ROWS.map((row) => {
      const isDefault = JSON.stringify(row.read(settings)) === JSON.stringify(row.read(DEFAULT_CHAT_SETTINGS))
      const value = formatSetting(row.read(settings))
      return { value: row.key, cells: [row.key, isDefault ? value : `${value} *`, row.summary], problem: '' }
    }),
    selected: Math.max(
      0,
      SETTING_ROWS.findIndex(({ key }) => key === selected),
    ),
    keys: [
      { key: 'e', label: 'or Enter changes' },
      { key: 'r', label: 'reset (* = changed)' },
    ],
    note,
  }
  showOverlay(context, panel)
}

/** Reads a value as it is typed after `/config KEY`; `default` removes the key. */
function readValue({ kind, key }: SettingRow, text: string): unknown {
  if (text === 'default') return undefined
  if (kind === 'switch')
    return /^(on|true|yes)$/.test(text) ? true : /^(off|false|no)$/.test(text) ? false : text
  if (kind === 'number') return readNumber(text)
  if (kind === 'parts' || key === 'keys') return text.split(/[\s,]+/).filter(Boolean)
  return text
}

/** Reads `0.85` or `85%`. */
function readNumber(text: string): unknown {
  const number = Number(text.replace(/%$/, ''))
  if (!Number.isFinite(number)) return text
  return text.endsWith('%') ? number / 100 : number
}
