import * as z from 'zod/mini'
import {
  ANSI_COLORS,
  type ChatSettings,
  COLOR_ROLES,
  DEFAULT_CHAT_SETTINGS,
  isColor,
  KEYMAP_PRESETS,
  NOTIFY_WAYS,
  SPINNERS,
  STATUS_PARTS,
  THEMES,
  TITLE_SOURCES,
} from '../base/chat-settings.ts'
import { checkValue, filledString, strictTable } from './schema.ts'
import { type TomlDocument, toFileIssues } from './toml.ts'
import type { Result } from './validation-issue.ts'

const { theme, keymap, notify, windowTitle, progress, compactAt, titles, spinner, fullscreen } =
  DEFAULT_CHAT_SETTINGS

/** Builds the schema of the `[tui]` table of config.toml. */
export function tuiTable() {
  return strictTable({
    theme: z._default(z.enum(THEMES), theme),
    colors: z.prefault(z.lazy(colors), {}),
    status: z._default(z.array(z.enum(STATUS_PARTS)), [...STATUS_PARTS]),
    keymap: z._default(z.enum(KEYMAP_PRESETS), keymap),
    keys: z._default(z.record(filledString(), z.array(filledString())), {}),
    notify: z._default(z.enum(NOTIFY_WAYS), notify),
    window_title: z._default(z.boolean(), windowTitle),
    progress: z._default(z.boolean(), progress),
    compact_at: z._default(
      z.number().check(z.refine(isShare, 'must be from 0.2 to 1, or 0 for never')),
      compactAt,
    ),
    titles: z._default(z.enum(TITLE_SOURCES), titles),
    spinner: z._default(z.enum(SPINNERS), spinner),
    fullscreen: z._default(z.boolean(), fullscreen),
  })
}

/** Reads the settings of the chat from a parsed config.toml. Other tables may be invalid. */
export function readChatSettings(document: TomlDocument): Result<ChatSettings> {
  const { tui = {} } = document.table
  const outcome = checkValue(strictTable({ tui: tuiTable() }), { tui })
  if (!outcome.ok) return { ok: false, problems: toFileIssues(document, outcome.problems) }
  return { ok: true, value: toChatSettings(outcome.value.tui) }
}

function toChatSettings(table: z.infer<ReturnType<typeof tuiTable>>): ChatSettings {
  const { window_title: windowTitle, compact_at: compactAt, ...same } = table
  return { ...same, windowTitle, compactAt }
}

function colors() {
  const color = z
    .string()
    .check(z.refine(isColor, `must be #rrggbb, default, or one of ${ANSI_COLORS.join(', ')}`))
  const shape = Object.fromEntries(COLOR_ROLES.map((role) => [role, z.exactOptional(color)]))
  return strictTable(shape as Record<(typeof COLOR_ROLES)[number], z.ZodMiniExactOptional<z.ZodMiniString>>)
}

function isShare(value: number): boolean {
  return value === 0 || (value >= 0.2 && value <= 1)
}
