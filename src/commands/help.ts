import type { Command, Option } from './command.ts'
import { GLOBAL, GROUPS, SECTIONS } from './sections.ts'

/** The help page of one command. */
export function commandHelp(name: string, command: Command): string {
  const options = [...command.options, ...GLOBAL].map(
    (option) => [flagsOf(option), optionSummary(option)] as const,
  )
  return [
    command.summary,
    `Usage: ${usageOf(name, command)}`,
    ...(command.details ? [command.details] : []),
    `Options:\n${columns(options)}`,
    `Examples:\n${command.examples.map((example) => `  ${example}`).join('\n')}`,
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n')
}

/** The help page of a group of commands such as `agent`. */
export function groupHelp(name: string, commands: readonly Command[], group: string): string {
  const rows = shown(commands)
    .filter(({ path }) => path[0] === group)
    .map(({ path, args, summary }) => [[...path, shownArgs(args)].join(' ').trim(), summary] as const)
  const title = GROUPS[group]
  const head = title === undefined ? '' : `${title}\n\n`
  return `${head}Usage: ${name} ${group} <command> [options]\n\nCommands:\n${columns(rows)}\n\nHelp with one: ${name} ${group} <command> --help\n`
}

/** The first help page of a program: a line for each command, and for each group of them. */
export function programHelp(name: string, commands: readonly Command[]): string {
  const rows = firstRows(shown(commands))
  const width = Math.max(...[...rows.values()].map(([left]) => left.length))
  const titled = new Set(SECTIONS.flatMap(([, words]) => words))
  const rest = ['Others', [...rows.keys()].filter((word) => !titled.has(word))] as const
  const sections = [...SECTIONS, rest].flatMap(([title, words]) => {
    const lines = words.flatMap((word) => (rows.has(word) ? [rows.get(word)!] : []))
    return lines.length === 0 ? [] : [`${title}:\n${columns(lines, width)}`]
  })
  return [`Usage: ${name} <command> [options]`, ...sections, `Help with one: ${name} help <command>`]
    .join('\n\n')
    .concat('\n')
}

/** `crabtalk agent show [name] [options]`; the options of what starts another program stand first. */
export function usageOf(name: string, command: Command): string {
  const args = shownArgs(command.args)
  const isRaw = command.rawFrom !== undefined
  return [name, ...command.path, isRaw ? '[options]' : args, isRaw ? args : '[options]']
    .filter(Boolean)
    .join(' ')
}

/** What an option does, with the values it takes and what holds without it. */
export function optionSummary({ summary, choices, fallback }: Option): string {
  const values = choices ? `: ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}` : ''
  return `${summary}${values}${fallback === undefined ? '' : ` (default ${fallback})`}`
}

/** By the first word of the commands: what stands left and right. */
function firstRows(commands: readonly Command[]): Map<string, readonly [string, string]> {
  const rows = new Map<string, readonly [string, string]>()
  for (const { path, args, summary } of commands) {
    const [word = '', verb] = path
    if (verb === undefined) rows.set(word, [`${word} ${shownArgs(args)}`.trim(), summary])
    else rows.set(word, [word, `${rows.get(word)?.[1] ?? `${GROUPS[word]}:`} ${verb},`])
  }
  return new Map([...rows].map(([word, [left, right]]) => [word, [left, right.replace(/,$/, '')]]))
}

function shown(commands: readonly Command[]): Command[] {
  return commands.filter(({ hidden }) => !hidden)
}

function shownArgs(args: string): string {
  return args.replaceAll(/([<[])\.\.\.(\w+)([>\]])/g, '$1$2…$3')
}

function flagsOf({ name, short, value }: Option): string {
  const long = value ? `--${name} ${value}` : `--${name}`
  return short ? `-${short}, ${long}` : `    ${long}`
}

function columns(
  rows: readonly (readonly [string, string])[],
  width = Math.max(...rows.map(([left]) => left.length)),
): string {
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}
