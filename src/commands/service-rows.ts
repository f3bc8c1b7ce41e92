import type { Command } from './command.ts'

/** Stands in a path for the name of any service: one row is `crabup daemon start` as well as `crabup clock start`. */
export const SERVICE_PLACEHOLDER = '<service>'

/** The table as a line means it that begins with this word: a word no other row begins with is the name of a service. */
export function bindServiceName(commands: readonly Command[], word: string | undefined): readonly Command[] {
  if (word === undefined || word === SERVICE_PLACEHOLDER || word.startsWith('-')) return commands
  if (commands.some(({ path }) => path[0] === word)) return commands
  return expandServiceRows(commands, [word])
}

/** The table with a row for each of these services in place of each for any. */
export function expandServiceRows(
  commands: readonly Command[],
  names: readonly string[],
): readonly Command[] {
  return commands.flatMap((command) => {
    const [first, ...rest] = command.path
    return first === SERVICE_PLACEHOLDER
      ? names.map((name) => ({ ...command, path: [name, ...rest] }))
      : [command]
  })
}

/** Whether rows for any service are among them. */
export function hasServiceRows(commands: readonly Command[]): boolean {
  return commands.some(({ path }) => path[0] === SERVICE_PLACEHOLDER)
}
