import {
  FINDERS,
  LAUNCHERS,
  REMOTE_LAUNCHERS,
  SHELL_PROGRAMS,
  SUB_LAUNCHERS,
} from '../base/programs/launcher-names.ts'
import { selectsPrograms } from '../base/programs/variable-names.ts'
import type { ShellWord } from '../base/shell-lexer.ts'
import { findInnerCommand, isLauncher, joined } from './inner-command.ts'

/**
 * Whether a rule that allows a command also allows what that command starts. `bash(timeout 60 npm test *)`
 * does; `bash(timeout *)` would allow anything.
 *
 * Also true for commands that start nothing, for shells, and for commands that run elsewhere: a rule for
 * these is meant to allow everything.
 */
export function allowsInner(pattern: readonly ShellWord[], command: readonly string[]): boolean {
  const [name = '', ...args] = command
  if (SHELL_PROGRAMS.has(name) || REMOTE_LAUNCHERS.has(name) || !isLauncher(name, args)) return true
  const star = pattern.findIndex(({ parts }) => parts.length > 1)
  if (star < 0) return true
  const texts = pattern.map(({ text }) => text)
  if (LAUNCHERS.has(name)) {
    const { begin } = findInnerCommand(texts)
    return begin >= 0 && begin < star
  }
  const last = texts[star - 1]!
  return SUB_LAUNCHERS.get(name)?.test(joined(texts.slice(1, star - 1))) === true && !last.startsWith('-')
}

/**
 * Returns the command that a launcher starts if that is certain: with known options only, and as the same
 * user. A command that gets further words from a pipe ends with `unknown`.
 */
export function plainInner(command: readonly string[], unknown: string): readonly string[] | undefined {
  const [name = '', ...args] = command
  const [options, operands] = PLAIN.get(name) ?? []
  if (options === undefined || FINDERS.has(name)) return undefined
  let at = 0
  while (at < args.length) {
    const count = countOptionWords(options, args, at)
    if (count === 0) break
    at += count
  }
  for (const operand of operands ?? []) if (!operand.test(args[at++] ?? '')) return undefined
  const inner = args.slice(at)
  if (inner.length === 0 || /^-|=/.test(inner[0]!)) return undefined
  return name === 'xargs' ? [...inner, unknown] : inner
}

/** Returns the number of words that an option takes at this index; 0 when there is no known option. */
function countOptionWords(options: RegExp, args: readonly string[], at: number): number {
  const word = args[at]!
  const [, variable] = /^([A-Za-z_]\w*)=/.exec(word) ?? []
  if (variable !== undefined) return options.test('NAME=') && !selectsPrograms(variable) ? 1 : 0
  if (options.test(word)) return 1
  return options.test(`${word} ${args[at + 1] ?? ''}`) ? 2 : 0
}

/** The known options, alone or with a value after a space, and the operands before the command. */
const PLAIN: ReadonlyMap<string, readonly [options: RegExp, operands?: readonly RegExp[]]> = new Map([
  ['timeout', [/^(--foreground|--preserve-status|-v|-k \d+[smhd]?|-s [A-Z0-9]+)$/, [/^\d+(\.\d+)?[smhd]?$/]]],
  ['nice', [/^(-n -?\d+|-n-?\d+|-\d+)$/]],
  ['nohup', [/^$/]],
  ['env', [/^NAME=$/]],
  ['stdbuf', [/^-[ioe][L0]$/]],
  ['xargs', [/^(-[0rt]+|-[nPL] ?\d+|--null|--no-run-if-empty)$/]],
])
