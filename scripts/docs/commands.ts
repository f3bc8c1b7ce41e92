import type { Command, CommandOption } from '../../src/cli/command.ts'
import { formatCommandUsage, optionSummary } from '../../src/cli/help.ts'
import {
  CRABTALK_SECTIONS,
  CRABUP_SECTIONS,
  GLOBAL_OPTIONS,
  GROUP_SUMMARIES,
  type HelpSections,
  NO_DAEMON_OPTION,
} from '../../src/cli/sections.ts'
import { SERVICE_PLACEHOLDER } from '../../src/cli/service-rows.ts'
import { CRABTALK } from '../../src/commands/table.ts'
import { CRABUP } from '../../src/commands/up/table.ts'
import { code, plain, table } from './sections.ts'

/**
 * Renders every command of both programs with its options and examples, by the sections of their help pages.
 */
export function commandsSection(): string {
  const everywhere = table(['option', 'meaning'], [...GLOBAL_OPTIONS, NO_DAEMON_OPTION].map(toRow))
  return [
    ...programPages({ name: 'crabtalk', commands: visibleCommands(CRABTALK), sections: CRABTALK_SECTIONS }),
    '## Options of every command',
    everywhere,
    `${code('crabup')} has no ${code('--no-daemon')}, because it does not use a daemon for its work.`,
    '## crabup',
    'The same file under another name, for services, components and packages, and for this program itself. Replace ' +
      `${code(SERVICE_PLACEHOLDER)} with the name of a service: ${code('daemon')}, ${code('cron')} or a component.`,
    ...programPages({ name: 'crabup', commands: visibleCommands(CRABUP), sections: CRABUP_SECTIONS }),
  ].join('\n\n')
}

/** A program with its visible commands. */
interface Program {
  name: string
  commands: readonly Command[]
  sections: HelpSections
}

function programPages(program: Program): string[] {
  const { name, commands, sections } = program
  const known = sections.flatMap(([, words]) => words)
  const others = [...new Set(commands.map(({ path }) => path[0]!))].filter((word) => !known.includes(word))
  return [...sections, ['Others', others] as const].flatMap(([title, words]) => {
    const pages = words.flatMap((word) => groupPage(program, word))
    const heading = name === 'crabtalk' ? `## ${title}` : `## crabup: ${title}`
    return pages.length > 0 ? [heading, ...pages] : []
  })
}

function groupPage({ name, commands }: Program, word: string): string[] {
  const group = commands.filter(({ path }) => path[0] === word)
  const title = GROUP_SUMMARIES[word]
  const names = group.flatMap(({ path: [, ...rest] }) => (rest.length === 0 ? [] : [code(rest.join(' '))]))
  const intro = title === undefined || names.length === 0 ? [] : [`${title}: ${names.join(', ')}.`]
  return [...intro, ...group.map((command) => commandPage(name, command))]
}

function commandPage(program: string, command: Command): string {
  const { path, summary, details, options, examples } = command
  const lines = examples.map((example) => `- ${code(example)}`)
  const title = [program, ...path].join(' ')
  return [
    `### ${path.includes(SERVICE_PLACEHOLDER) ? code(title) : title}`,
    `${summary}.`,
    code(formatCommandUsage(program, command)),
    ...(details
      ? [details.replaceAll(/^ {2}(\w+) +(.*)$/gm, (_, name, line) => `- ${name}: ${code(line)}`)]
      : []),
    ...(options.length > 0 ? [table(['option', 'meaning'], options.map(toRow))] : []),
    lines.join('\n'),
  ].join('\n\n')
}

function toRow(option: CommandOption): [string, string] {
  const { name, short, value } = option
  const long = `--${name}${value ? ` ${value}` : ''}`
  return [code(short ? `-${short}, ${long}` : long), plain(optionSummary(option))]
}

function visibleCommands(commands: readonly Command[]): Command[] {
  return commands.filter(({ hidden }) => !hidden)
}
