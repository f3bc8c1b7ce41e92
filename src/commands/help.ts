import type { Command, Option } from './command.ts'
import { GLOBAL } from './table.ts'

/** The help page of one command. */
export function commandHelp(name: string, command: Command): string {
  const args = shownArgs(command.args)
  const isRaw = command.rawFrom !== undefined // its options must stand first
  const usage = [name, ...command.path, isRaw ? '[options]' : args, isRaw ? args : '[options]']
    .filter(Boolean)
    .join(' ')
  const options = [...command.options, ...GLOBAL].map((option) => [flagsOf(option), option.summary] as const)
  return [
    command.summary,
    `Usage: ${usage}`,
    ...(command.details ? [command.details] : []),
    `Options:\n${columns(options)}`,
    `Examples:\n${command.examples.map((example) => `  ${example}`).join('\n')}`,
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n')
}

/** The help page of a program, or of a group of commands such as `agent`. */
export function groupHelp(name: string, commands: readonly Command[], group: readonly string[] = []): string {
  const rows = commands
    .filter((command) => group.every((word, index) => command.path[index] === word))
    .map((command) => [[...command.path, shownArgs(command.args)].join(' ').trim(), command.summary] as const)
  const usage = [name, ...group, '<command>', '[options]'].join(' ')
  return `Usage: ${usage}\n\nCommands:\n${columns(rows)}\n\nHelp with one: ${[name, ...group].join(' ')} <command> --help\n`
}

function shownArgs(args: string): string {
  return args.replaceAll(/([<[])\.\.\.(\w+)([>\]])/g, '$1$2…$3')
}

function flagsOf({ name, short, value }: Option): string {
  const long = value ? `--${name} ${value}` : `--${name}`
  return short ? `-${short}, ${long}` : `    ${long}`
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}
