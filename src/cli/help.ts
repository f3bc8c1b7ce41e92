import type { Command, CommandOption } from './command.ts'
import { formatArgumentNotation } from './command.ts'
import { CRABTALK_SECTIONS, CRABUP_SECTIONS, GROUP_SUMMARIES, listOptions } from './sections.ts'

/** Returns the help page of one command; `commands` are those of its program, of which its group is listed. */
export function commandHelp(name: string, command: Command, commands: readonly Command[]): string {
  const options = listOptions(command).map((option) => [formatFlags(option), optionSummary(option)] as const)
  return [
    command.summary,
    `Usage: ${formatCommandUsage(name, command)}`,
    ...(command.details ? [reflow(command.details)] : []),
    ...subcommandsBlock(command, commands),
    `Options:\n${formatColumns(options)}`,
    `Examples:\n${command.examples.map((example) => `  ${example}`).join('\n')}`,
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n')
}

/** Returns the block of commands that begin with the whole path of this one; none for most commands. */
function subcommandsBlock({ path }: Command, commands: readonly Command[]): string[] {
  const isBelow = (other: Command) =>
    other.path.length > path.length && path.every((word, i) => other.path[i] === word)
  const rows = visibleCommands(commands).filter(isBelow).map(toCommandRow)
  return rows.length === 0 ? [] : [`Commands:\n${formatColumns(rows)}`]
}

/** Returns the help page of a group of commands such as `agent`. */
export function groupHelp(name: string, commands: readonly Command[], group: string): string {
  const rows = visibleCommands(commands)
    .filter(({ path }) => path[0] === group)
    .map(toCommandRow)
  const title = GROUP_SUMMARIES[group]
  const head = title === undefined ? '' : `${title}\n\n`
  return `${head}Usage: ${name} ${group} <command> [options]\n\nCommands:\n${formatColumns(rows)}\n\nHelp with one: ${name} ${group} <command> --help\n`
}

function toCommandRow({ path, args, summary }: Command): readonly [string, string] {
  return [[...path, formatArgumentNotation(args)].join(' ').trim(), summary]
}

/** Returns the first help page of a program, with a line for each command and each group. */
export function programHelp(name: string, commands: readonly Command[]): string {
  const rows = toFirstRows(visibleCommands(commands))
  const width = Math.max(...[...rows.values()].map(([left]) => left.length))
  const titles = name === 'crabup' ? CRABUP_SECTIONS : CRABTALK_SECTIONS
  const titled = new Set(titles.flatMap(([, words]) => words))
  const rest = ['Others', [...rows.keys()].filter((word) => !titled.has(word))] as const
  const sections = [...titles, rest].flatMap(([title, words]) => {
    const lines = words.flatMap((word) => (rows.has(word) ? [rows.get(word)!] : []))
    return lines.length === 0 ? [] : [`${title}:\n${formatColumns(lines, width)}`]
  })
  return [`Usage: ${name} <command> [options]`, ...sections, `Help with one: ${name} help <command>`]
    .join('\n\n')
    .concat('\n')
}

/**
 * Formats the usage of a command: `crabtalk agent show [name] [options]`; for a command that starts another
 * program, options come first.
 */
export function formatCommandUsage(name: string, command: Command): string {
  const args = formatArgumentNotation(command.args)
  const isRaw = command.rawFrom !== undefined
  return [name, ...command.path, isRaw ? '[options]' : args, isRaw ? args : '[options]']
    .filter(Boolean)
    .join(' ')
}

/** Returns the summary of an option, with its choices and its default. */
export function optionSummary({ summary, choices, fallback }: CommandOption): string {
  const values = choices ? `: ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}` : ''
  return `${summary}${values}${fallback === undefined ? '' : ` (default ${fallback})`}`
}

/** Returns the left and right column of each row, by the first word of the commands. */
function toFirstRows(commands: readonly Command[]): Map<string, readonly [string, string]> {
  const rows = Object.entries(Object.groupBy(commands, ({ path }) => path[0] ?? ''))
  return new Map(
    rows.map(([word, group = []]) => {
      const alone = group.find(({ path }) => path.length === 1)
      const verbs = group.flatMap(({ path }) => path[1] ?? []).join(', ')
      const title = alone ? `${alone.summary}; also ` : `${GROUP_SUMMARIES[word]}: `
      return [word, [word, verbs === '' && alone ? alone.summary : title + verbs]]
    }),
  )
}

function visibleCommands(commands: readonly Command[]): Command[] {
  return commands.filter(({ hidden }) => !hidden)
}

function formatFlags({ name, short, value, isValueOptional = false }: CommandOption): string {
  const long = value ? `--${name} ${isValueOptional ? `[${value}]` : value}` : `--${name}`
  return short ? `-${short}, ${long}` : `    ${long}`
}

function formatColumns(
  rows: readonly (readonly [string, string])[],
  width = Math.max(...rows.map(([left]) => left.length)),
): string {
  const indent = ' '.repeat(width + 4)
  const lines = rows.map(([left, right]) => {
    const text = wrap(right, Math.max(MIN_WIDTH, WIDTH - indent.length)).join(`\n${indent}`)
    return `  ${left.padEnd(width)}  ${text}`
  })
  return lines.join('\n')
}

/** Wraps paragraphs to the usual width of a terminal; indented lines stay as they are. */
function reflow(text: string): string {
  return text
    .split('\n\n')
    .map((part) => (part.startsWith(' ') ? part : wrap(part.replaceAll('\n', ' '), WIDTH).join('\n')))
    .join('\n\n')
}

/** Wraps a text at spaces into lines of at most `width` characters; a longer word has a line of its own. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

const WIDTH = 80
const MIN_WIDTH = 36
