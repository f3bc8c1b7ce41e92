import { KEYMAP, type KeyBinding, showChord } from '../../src/core/keys/keymap.ts'
import { SLASH_COMMANDS } from '../../src/tui/slash/commands.ts'
import { VIM_KEYS } from '../../src/tui/text/vim/key-table.ts'
import { code, table } from './sections.ts'

/** Renders the keys of the chat's prompt. */
export function keysSection(): string {
  const bindings: readonly KeyBinding[] = KEYMAP
  return table(
    ['key', 'does'],
    bindings.map(({ keys, summary }) => [
      keys.map((key) => code(showChord(key))).join(' '),
      summary.replaceAll('\\', '`\\`'),
    ]),
  )
}

/** Renders the keys of normal mode of the vim preset. */
export function vimSection(): string {
  return table(
    ['keys', 'do'],
    VIM_KEYS.map(([keys, summary]) => [
      keys
        .split(' ')
        .map((key) => code(key))
        .join(' '),
      summary,
    ]),
  )
}

/** Renders the slash commands of the chat. */
export function slashSection(): string {
  return table(
    ['command', 'does'],
    SLASH_COMMANDS.map(({ name, aliases = [], args, summary }) => {
      const others = aliases.map((alias) => `, ${code(`/${alias}`)}`).join('')
      return [`${code(`/${name} ${args}`.trim())}${others}`, summary]
    }),
  )
}
