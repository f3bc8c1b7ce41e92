import {
  type ChatSettings,
  KEYMAP_PRESETS,
  NOTIFY_WAYS,
  SPINNERS,
  STATUS_PARTS,
  THEMES,
  TITLE_SOURCES,
} from '../../core/base/chat-settings.ts'

/** A row of `/config`: a key of the `[tui]` table. */
export interface SettingRow {
  /** The key in config.toml. */
  key: string
  summary: string
  /** The way to change it: by a choice, a switch, a number, an ordered list of parts, or a table of its own keys. */
  kind: 'choice' | 'switch' | 'number' | 'parts' | 'table'
  /** The values of a choice. */
  choices?: readonly string[]
  read(settings: ChatSettings): unknown
}

/** Every setting of the chat, in the order of `/config`. */
export const SETTING_ROWS: readonly SettingRow[] = [
  {
    key: 'theme',
    summary: 'the colors; auto follows the background of the terminal',
    kind: 'choice',
    choices: THEMES,
    read: ({ theme }) => theme,
  },
  { key: 'colors', summary: 'your own colors, by role', kind: 'table', read: ({ colors }) => colors },
  {
    key: 'status',
    summary: 'the parts of the status line and their order',
    kind: 'parts',
    choices: STATUS_PARTS,
    read: ({ status }) => status,
  },
  {
    key: 'keymap',
    summary: 'the keys; vim has modes',
    kind: 'choice',
    choices: KEYMAP_PRESETS,
    read: ({ keymap }) => keymap,
  },
  { key: 'keys', summary: 'your own keys, by action', kind: 'table', read: ({ keys }) => keys },
  {
    key: 'notify',
    summary: 'notifications while the window is not focused',
    kind: 'choice',
    choices: NOTIFY_WAYS,
    read: ({ notify }) => notify,
  },
  {
    key: 'window_title',
    summary: 'set the title of the window',
    kind: 'switch',
    read: ({ windowTitle }) => windowTitle,
  },
  {
    key: 'progress',
    summary: 'show in the tab or the taskbar that a turn is running',
    kind: 'switch',
    read: ({ progress }) => progress,
  },
  {
    key: 'compact_at',
    summary: 'the share of the context window at which the history is compacted; 0 for never',
    kind: 'number',
    read: ({ compactAt }) => compactAt,
  },
  {
    key: 'titles',
    summary: 'titles of conversations: cut from the first message, made by the model, or none',
    kind: 'choice',
    choices: TITLE_SOURCES,
    read: ({ titles }) => titles,
  },
  {
    key: 'spinner',
    summary: 'the animation of a running turn; none is a still dot',
    kind: 'choice',
    choices: SPINNERS,
    read: ({ spinner }) => spinner,
  },
  {
    key: 'fullscreen',
    summary: 'start in full screen',
    kind: 'switch',
    read: ({ fullscreen }) => fullscreen,
  },
]

/** Formats the value of a setting for `/config`. */
export function formatSetting(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `${value.length} parts`
  if (typeof value === 'object' && value !== null) {
    const { length } = Object.keys(value)
    return length === 0 ? 'none' : String(length)
  }
  return String(value)
}
