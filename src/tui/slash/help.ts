import { newPage } from '../overlays/page.ts'
import { makeKeymap } from '../text/bindings.ts'
import { type KeyBinding, showChord } from '../text/keymap.ts'
import { inColumns, showOverlay } from './print.ts'
import type { SlashCommand, SlashContext } from './types.ts'

/** `/help`: shows the commands and the keys. */
export function showHelp(commands: readonly SlashCommand[], context: SlashContext): void {
  const { bindings } = makeKeymap(context.state().settings)
  const groups = GROUPS.map(([group, title]) => `${title}\n${inColumns(listKeys(bindings, group))}`)
  const text = [
    'Enter sends the message. @ names a file, ! runs a shell command, # saves a note to the memory, / runs one of these commands:',
    inColumns(commands.map(commandLine)),
    'A card asks you: press a digit or the arrows, then Enter; Esc means no. What you type goes to the composer; letters are never answers.',
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

function listKeys(bindings: readonly KeyBinding[], group: KeyBinding['group']): [string, string][] {
  return bindings
    .filter((binding) => binding.group === group)
    .map(({ keys, summary }) => [keys.map(showChord).join(', '), summary])
}
