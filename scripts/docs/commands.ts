import type { Command, Option } from '../../src/commands/command.ts'
import { optionSummary, usageOf } from '../../src/commands/help.ts'
import { GLOBAL, GROUPS, NO_DAEMON, SECTIONS } from '../../src/commands/sections.ts'
import { CRABTALK } from '../../src/commands/table.ts'
import { CRABUP } from '../../src/commands/up/table.ts'
import { code, plain, table } from './sections.ts'

/** Every command with its options and examples, by the sections of the first help page. */
export function commandsSection(): string {
  const known = SECTIONS.flatMap(([, words]) => words)
  const others = [...new Set(shown(CRABTALK).map(({ path }) => path[0]!))].filter(
    (word) => !known.includes(word),
  )
  const sections = [...SECTIONS, ['Others', others] as const].flatMap(([title, words]) => {
    const pages = words.flatMap((word) => groupPage(word))
    return pages.length > 0 ? [`## ${title}`, ...pages] : []
  })
  const everywhere = table(['option', ''], [...GLOBAL, NO_DAEMON].map(toRow))
  const crabup = shown(CRABUP).map(({ path }) => code(`crabup ${path.join(' ')}`))
  return [
    ...sections,
    '## Options of every command',
    everywhere,
    '## crabup',
    `The same file under another name. It has ${crabup.join(' and ')}.`,
  ].join('\n\n')
}

function groupPage(word: string): string[] {
  const commands = shown(CRABTALK).filter(({ path }) => path[0] === word)
  const title = GROUPS[word]
  const names = commands.flatMap(({ path: [, ...rest] }) => (rest.length === 0 ? [] : [code(rest.join(' '))]))
  const intro = title === undefined || names.length === 0 ? [] : [`${title}: ${names.join(', ')}.`]
  return [...intro, ...commands.map(commandPage)]
}

function commandPage(command: Command): string {
  const { path, summary, details, options, examples } = command
  const lines = examples.map((example) => `- ${code(example)}`)
  return [
    `### crabtalk ${path.join(' ')}`,
    `${summary}.`,
    code(usageOf('crabtalk', command)),
    ...(details
      ? [details.replaceAll(/^ {2}(\w+) +(.*)$/gm, (_, name, line) => `- ${name}: ${code(line)}`)]
      : []),
    ...(options.length > 0 ? [table(['option', ''], options.map(toRow))] : []),
    lines.join('\n'),
  ].join('\n\n')
}

function toRow(option: Option): [string, string] {
  const { name, short, value } = option
  const long = `--${name}${value ? ` ${value}` : ''}`
  return [code(short ? `-${short}, ${long}` : long), plain(optionSummary(option))]
}

function shown(commands: readonly Command[]): Command[] {
  return commands.filter(({ hidden }) => !hidden)
}
