import { makeKeymap } from '../../core/keys/bindings.ts'
import { type KeyBinding, showChord } from '../../core/keys/keymap.ts'
import { newPage } from '../overlays/page.ts'
import { inColumns, showOverlay } from './print.ts'
import type { SlashCommand, SlashContext } from './types.ts'

/** `/help`: shows the commands and the keys. */
export function showHelp(commands: readonly SlashCommand[], context: SlashContext): void {
  const { bindings } = makeKeymap(context.state().settings)
  const groups = GROUPS.map(([group, title]) => `${title}\n${inColumns(listKeys(bindings, group))}`)
  const text = [
    'Enter sends the message. @ names a file, ! runs a shell command, # saves a note to the memory, / runs one of these commands:',
    ...COMMAND_GROUPS.map(([title, names]) =>
      listCommands(
        title,
        commands.filter(({ name }) => names.includes(name)),
      ),
    ),
    'On a card, press a digit or the arrows, then Enter; Esc means no. Anything else you type goes into the prompt.',
    ...groups,
  ]
  showOverlay(context, newPage('Help', text.join('\n\n')))
}

function listCommands(title: string, commands: readonly SlashCommand[]): string {
  return `${title}\n${inColumns(commands.map(commandLine))}`
}

/** The commands by subject; each command is in one group. */
export const COMMAND_GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ['Conversations', words('new resume search title fork rewind compact context copy export btw')],
  ['Agents and background work', words('agents background asks queue cron events')],
  ['Models and cost', words('connect model effort usage cost')],
  ['Files', words('init review diff undo cd add-dir')],
  ['Permissions', words('permissions approvals yolo')],
  ['Tools, skills and memory', words('mcp login tools skills memory trace')],
  ['The chat', words('help status doctor config theme keys details thinking fullscreen plain quit')],
]

function words(text: string): readonly string[] {
  return text.split(' ')
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
