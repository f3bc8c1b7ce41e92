import type { Command, CommandOption } from '../../src/cli/command.ts'
import { formatCommandUsage, optionSummary } from '../../src/cli/help.ts'
import { GROUP_SUMMARIES, type HelpSections, listOptions } from '../../src/cli/sections.ts'

/** A program that gets manual pages. */
export interface Program {
  name: string
  version: string
  /** Its purpose, in one line. */
  summary: string
  commands: readonly Command[]
  sections: HelpSections
}

/**
 * Renders the manual of a program as man(7) pages of section 1: one for the program, and one for each first
 * word of its commands.
 */
export function manPages(program: Program): Map<string, string> {
  const words = [...new Set(visibleCommands(program).map(({ path }) => path[0]!))]
  return new Map([
    [`${program.name}.1`, overview(program, words)],
    ...words.map((word) => [`${pageName(program, word)}.1`, wordPage(program, word)] as const),
  ])
}

function overview(program: Program, words: readonly string[]): string {
  const titled = new Set(program.sections.flatMap(([, listed]) => listed))
  const sections = [...program.sections, ['Others', words.filter((word) => !titled.has(word))] as const]
  return [
    head(program, program.name, program.summary),
    '.SH SYNOPSIS',
    `.B ${literal(program.name)}`,
    text('<command> [options]'),
    '.SH COMMANDS',
    ...sections.flatMap(([title, listed]) => {
      const rows = listed.filter((word) => words.includes(word))
      return rows.length === 0
        ? []
        : [`.SS ${literal(title)}`, ...rows.flatMap((word) => wordRow(program, word))]
    }),
    ...(program.name === 'crabtalk' ? FILES : []),
    '.SH SEE ALSO',
    words.map((word) => `.BR ${literal(pageName(program, word))} (1)`).join(' ,\n'),
    '',
  ].join('\n')
}

/** Renders the entry of a command word, with its verbs. */
function wordRow(program: Program, word: string): string[] {
  const commands = commandsByWord(program, word)
  const alone = commands.find(({ path }) => path.length === 1)
  const verbs = commands.flatMap(({ path }) => path[1] ?? []).join(', ')
  const summary = alone?.summary ?? GROUP_SUMMARIES[word] ?? ''
  return ['.TP', `.B ${literal(word)}`, text(verbs === '' ? summary : `${summary}: ${verbs}`)]
}

function wordPage(program: Program, word: string): string {
  const commands = commandsByWord(program, word)
  const [first] = commands
  const summary = GROUP_SUMMARIES[word] ?? first?.summary ?? ''
  return [
    head(program, pageName(program, word), summary),
    '.SH SYNOPSIS',
    ...commands.flatMap((command) => ['.nf', literal(formatCommandUsage(program.name, command)), '.fi']),
    '.SH DESCRIPTION',
    ...commands.flatMap((command) => commandPart(program, command)),
    '.SH SEE ALSO',
    `.BR ${literal(program.name)} (1)`,
    '',
  ].join('\n')
}

function commandPart(program: Program, command: Command): string[] {
  return [
    `.SS ${literal([program.name, ...command.path].join(' '))}`,
    text(`${command.summary}.`),
    ...(command.details ? command.details.split('\n\n').flatMap(paragraph) : []),
    ...listOptions(command).flatMap((option) => ['.TP', flags(option), text(optionSummary(option))]),
    '.PP',
    'Examples:',
    '.PP',
    '.RS 4',
    '.nf',
    ...command.examples.map(literal),
    '.fi',
    '.RE',
  ]
}

function paragraph(part: string): string[] {
  const lines = part.split('\n')
  if (!part.startsWith(' ')) return ['.PP', text(part.replaceAll('\n', ' '))]
  return ['.PP', '.nf', ...lines.map(literal), '.fi']
}

function flags({ name, short, value }: CommandOption): string {
  const long = `\\fB${literal(`--${name}`)}\\fR${value ? ` \\fI${literal(value)}\\fR` : ''}`
  return short ? `\\fB${literal(`-${short}`)}\\fR, ${long}` : long
}

function head({ version }: Program, page: string, summary: string): string {
  return [
    `.TH ${literal(page.toUpperCase())} 1 "" "${literal(`crabtalk ${version}`)}" "crabtalk"`,
    '.SH NAME',
    `${literal(page)} \\- ${text(lowerFirst(summary))}`,
  ].join('\n')
}

/** Escapes text that is shown exactly as it is typed. */
function literal(line: string): string {
  return guarded(line.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('"', '\\(dq'))
}

/** Escapes prose; the hyphens of options are kept, so that they can be copied. */
function text(line: string): string {
  const options = /(?<![\w-])--?[a-z][\w-]*/g
  return guarded(line.replaceAll('\\', '\\e').replaceAll(options, (option) => option.replaceAll('-', '\\-')))
}

/**
 * Escapes a line to ASCII, since not every roff reads UTF-8, and keeps it from being taken for a roff
 * request.
 */
function guarded(line: string): string {
  const ascii = line.replaceAll(
    /[^\x20-\x7e]/gu,
    (character) => `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
  )
  return /^[.']/.test(ascii) ? `\\&${ascii}` : ascii
}

function lowerFirst(line: string): string {
  return /^[A-Z][a-z]/.test(line) ? line[0]!.toLowerCase() + line.slice(1) : line
}

function pageName({ name }: Program, word: string): string {
  return `${name}-${word.replaceAll(/[<>]/g, '')}`
}

function commandsByWord(program: Program, word: string): Command[] {
  return visibleCommands(program).filter(({ path }) => path[0] === word)
}

function visibleCommands({ commands }: Program): Command[] {
  return commands.filter(({ hidden }) => !hidden)
}

const FILES = [
  '.SH FILES',
  '.TP',
  '.I ~/.crabtalk/config.toml',
  'The configuration.',
  '.TP',
  '.I ~/.crabtalk/sessions',
  'The stored conversations.',
  '.SH ENVIRONMENT',
  '.TP',
  '.B CRABTALK_HOME',
  'Another directory for all of these files.',
]
