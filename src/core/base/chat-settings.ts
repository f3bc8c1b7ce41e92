/** The themes of the chat; `auto` follows the background of the terminal. */
export const THEMES = ['auto', 'light', 'dark', 'high-contrast', 'ansi', 'none'] as const

/** The name of a theme. */
export type ThemeName = (typeof THEMES)[number]

/** The roles of colors in the chat, which `[tui.colors]` may set. */
export const COLOR_ROLES = [
  'accent',
  'dim',
  'success',
  'warning',
  'error',
  'user-background',
  'diff-added',
  'diff-removed',
  'diff-added-background',
  'diff-removed-background',
  'diff-added-word',
  'diff-removed-word',
  'code',
  'code-keyword',
  'code-string',
  'code-number',
  'code-type',
  'code-function',
  'code-comment',
] as const

/** The role of a color. */
export type ColorRole = (typeof COLOR_ROLES)[number]

/** The names of the 16 ANSI colors, in the order of their codes. */
export const ANSI_COLORS = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white',
  'bright-black',
  'bright-red',
  'bright-green',
  'bright-yellow',
  'bright-blue',
  'bright-magenta',
  'bright-cyan',
  'bright-white',
] as const

/** Whether a text is a color of `[tui.colors]`: `#rrggbb`, an ANSI name, or `default` for the terminal's own. */
export function isColor(text: string): boolean {
  return /^#[\da-f]{6}$/i.test(text) || text === 'default' || ANSI_COLORS.some((name) => name === text)
}

/** The parts of the status line, in their default order. */
export const STATUS_PARTS = [
  'agent',
  'mode',
  'vim',
  'model',
  'shared',
  'others',
  'title',
  'context',
  'cost',
  'mcp',
  'directory',
  'daemon',
] as const

/** The name of a part of the status line. */
export type StatusPartName = (typeof STATUS_PARTS)[number]

/** The presets of the key table. */
export const KEYMAP_PRESETS = ['default', 'vim', 'emacs'] as const

/** The name of a preset of the key table. */
export type KeymapPreset = (typeof KEYMAP_PRESETS)[number]

/** The ways to get attention outside the window; `auto` chooses by terminal. */
export const NOTIFY_WAYS = ['auto', 'bell', 'osc9', 'osc777', 'osc99', 'off'] as const

/** A way to get attention outside the window. */
export type NotifyWay = (typeof NOTIFY_WAYS)[number]

/** The sources of the titles of conversations: their first message, the model, or only `/title`. */
export const TITLE_SOURCES = ['auto', 'model', 'off'] as const

/** The source of the titles of conversations. */
type TitleSource = (typeof TITLE_SOURCES)[number]

/** The signs of a running turn; `none` does not move. */
export const SPINNERS = ['dots', 'line', 'circle', 'bar', 'pulse', 'none'] as const

/** The name of a sign of a running turn. */
export type SpinnerName = (typeof SPINNERS)[number]

/** The settings of the chat: the `[tui]` table of config.toml. */
export interface ChatSettings {
  theme: ThemeName
  /** Colors that replace those of the theme. */
  colors: Readonly<Partial<Record<ColorRole, string>>>
  /** The parts of the status line, from left to right. */
  status: readonly StatusPartName[]
  keymap: KeymapPreset
  /** The chords of actions, which replace those of the preset. */
  keys: Readonly<Record<string, readonly string[]>>
  notify: NotifyWay
  /** Whether the chat sets the title of the terminal's window. */
  windowTitle: boolean
  /** Whether the terminal shows the progress of a turn, if it can. */
  progress: boolean
  /** The share of the context window at which the history is compacted; 0 means never. */
  compactAt: number
  titles: TitleSource
  spinner: SpinnerName
  /** Whether the chat starts on the alternate screen. */
  fullscreen: boolean
}

/** The settings of the chat without a `[tui]` table. */
export const DEFAULT_CHAT_SETTINGS: ChatSettings = {
  theme: 'auto',
  colors: {},
  status: STATUS_PARTS,
  keymap: 'default',
  keys: {},
  notify: 'auto',
  windowTitle: true,
  progress: true,
  compactAt: 0.85,
  titles: 'auto',
  spinner: 'dots',
  fullscreen: false,
}
