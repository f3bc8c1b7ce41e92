import type { Command } from './command.ts'

/**
 * A placeholder in a path for the name of any service: one row is `crabup daemon start` as well as `crabup
 * clock start`.
 */
export const SERVICE_PLACEHOLDER = '<service>'

/**
 * Returns the table for a line that begins with this word: a word that begins no other row is taken for the
 * name of a service.
 */
export function bindServiceName(commands: readonly Command[], word: string | undefined): readonly Command[] {
  if (word === undefined || word === SERVICE_PLACEHOLDER || word.startsWith('-')) return commands
  if (commands.some(({ path }) => path[0] === word)) return commands
  return expandServiceRows(commands, [word])
}

/** Returns the table with one row for each of these services in place of each placeholder row. */
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

/** Whether the table has rows for any service. */
export function hasServiceRows(commands: readonly Command[]): boolean {
  return commands.some(({ path }) => path[0] === SERVICE_PLACEHOLDER)
}
