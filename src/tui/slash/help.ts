import { newPage } from '../overlays/page.ts'
import { KEYMAP, type KeyBinding, showChord } from '../text/keymap.ts'
import { inColumns, showOverlay } from './print.ts'
import type { SlashCommand, SlashContext } from './types.ts'

/** `/help`: shows the commands and the keys. */
export function showHelp(commands: readonly SlashCommand[], context: SlashContext): void {
  const groups = GROUPS.map(([group, title]) => `${title}\n${inColumns(listKeys(group))}`)
  const text = [
    'A message is sent with Enter. @ names a file, ! runs a command line of your own, # and some words remembers them, / begins one of these:',
    inColumns(commands.map(commandLine)),
    'A card asks you: a digit or the arrows, then Enter; Esc is no. What you type goes to the composer, and letters are never answers.',
    ...groups,
  ]
  showOverlay(context, newPage('Help', text.join('\n\n')))
}

/** Formats a command with its arguments and aliases, and its summary. */
function commandLine({ name, aliases = [], args, summary }: SlashCommand): [string, string] {
  const names = [name, ...aliases].map((one) => `/${one}`).join(' ')
  return [args === '' ? names : `${names} ${args}`, summary]
}

const GROUPS = [
  ['send', 'Sending'],
  ['chat', 'The chat'],
  ['move', 'Moving'],
  ['edit', 'Editing'],
] as const satisfies readonly (readonly [KeyBinding['group'], string])[]

function listKeys(group: KeyBinding['group']): [string, string][] {
  const bindings: readonly KeyBinding[] = KEYMAP
  return bindings
    .filter((binding) => binding.group === group)
    .map(({ keys, summary }) => [keys.map(showChord).join(', '), summary])
}
