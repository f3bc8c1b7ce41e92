import { basename, posix } from 'node:path'
import {
  EXEC_OPTION,
  FEEDERS,
  FINDERS,
  GIT_PROGRAM_SETTING,
  JOINERS,
  LAUNCHERS,
  LINE_READERS,
  OPAQUE_LAUNCHERS,
  OPERAND_COUNTS,
  OPTION_LAUNCHERS,
  SHELL_PROGRAMS,
  SHELL_STARTERS,
  SUB_LAUNCHERS,
  VALUELESS_OPTIONS,
} from '../base/programs/launcher-names.ts'
import { selectsPrograms } from '../base/programs/variable-names.ts'

/**
 * Returns the program name without folder and in lower case: `rm` for `./RM`, which is the same program on
 * file systems that ignore case.
 */
export function plainName(name: string): string {
  return basename(name).toLowerCase()
}

/** Whether a command starts a program that its arguments name. */
export function isLauncher(name: string, args: readonly string[]): boolean {
  if (SHELL_PROGRAMS.has(name) || LAUNCHERS.has(name)) return true
  if (FINDERS.has(name)) return args.some((arg) => EXEC_OPTION.test(arg))
  return [SUB_LAUNCHERS, OPTION_LAUNCHERS].some((table) => table.get(name)?.test(joined(args)))
}

/** Joins words with NULs, for the patterns of SUB_LAUNCHERS and OPTION_LAUNCHERS. */
export function joined(args: readonly string[]): string {
  return `\0${args.map((arg) => `${arg}\0`).join('')}`
}

/**
 * Returns the first index at which the command line of an option such as -c can be; -1 without such an
 * option.
 *
 * The option may also contain the line in the same word; callers must handle that.
 */
export function innerCommandStart(words: readonly string[]): number {
  const option = words.findIndex((word) => /^-(?!exec)[A-Za-z]*[cS]|^--[a-z-]*(command|string)$/.test(word))
  return option < 0 ? -1 : option + 1
}

/** Whether a program is a shell that may read its commands from a pipe. */
export function readsInput(name: string, args: readonly string[]): boolean {
  if (!SHELL_PROGRAMS.has(name)) return false
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (/^-\w*c/.test(arg)) return args.length === i + 1
    if (/^--?$/.test(arg)) return isInput(args[i + 1])
    if (!/^[-+]/.test(arg)) return isInput(arg)
    if (!PLAIN_OPTION.test(arg)) return true
    if (!arg.startsWith('--')) i += arg.match(/o/gi)?.length ?? 0
  }
  return true
}

/**
 * Whether the program that a launcher finally starts, or its arguments, may differ from what the command line
 * shows.
 */
export function isUnseen(command: readonly string[]): boolean {
  const inner = findInnerCommand(command)
  const { names, heads, begin } = inner
  if (heads.some((i) => GLOB.test(command[i]!) && command[i] !== '[')) return true
  if (names.some((name) => OPAQUE_LAUNCHERS.has(name)) || setsProgram(command, inner)) return true
  const last = names.at(-1)!
  const line = SHELL_PROGRAMS.has(last) || LINE_READERS.has(last) ? innerCommandStart(command) : -1
  if (begin < 0 && line < 0) {
    if (SHELL_STARTERS.has(last)) return true
    if (ROOT.test(last) && command.some((word) => ROOT_SHELL.test(word))) return true
  }
  return isFed(command, inner, line)
}

/** Whether it sets a variable, or a git setting, that decides which program runs. */
function setsProgram(command: readonly string[], { names, begin }: LaunchChain): boolean {
  if (names[0] === 'git') {
    return command.some((word, i) => {
      return (
        /^--(config-env|exec-path)/.test(word) || (command[i - 1] === '-c' && GIT_PROGRAM_SETTING.test(word))
      )
    })
  }
  return command.slice(1, begin < 0 ? command.length : begin).some((word) => {
    const [, name] = /^([A-Za-z_]\w*)=/.exec(word) ?? []
    return name !== undefined && selectsPrograms(name)
  })
}

/** Whether words from elsewhere may become more than plain arguments. */
function isFed(command: readonly string[], inner: LaunchChain, line: number): boolean {
  return inner.names.some((name, i) => FEEDERS.has(name) && isFedBy(i, command, inner, line))
}

function isFedBy(
  feeder: number,
  command: readonly string[],
  { names, begin, strings }: LaunchChain,
  line: number,
): boolean {
  const startedNames = names.slice(feeder + 1)
  const isJoined = startedNames.some((name) => JOINERS.has(name))
  const fed = [...command.keys()].filter((i) => {
    return strings.some((one) => command[i]!.includes(one) && !isDeclaring(command, i, one))
  })
  const isPlain = (i: number) => begin >= 0 && i > begin && !isJoined && !/\s/.test(command[i]!)
  if (fed.length > 0) return fed.some((i) => !isPlain(i) || (line >= 0 && i >= line))
  if (/^g?find$/.test(names[feeder]!)) return false // other feeders append the words
  return isJoined || (startedNames.length > 0 && begin < 0 && (line < 0 || line >= command.length))
}

/** The nested launchers of a command, and the program they start. */
export interface LaunchChain {
  names: string[]
  /** The indexes of words that may be the program. */
  heads: number[]
  /** The largest index at which the program can be; -1 when there may be no program. */
  begin: number
  /** The placeholders that feeders replace with words. */
  strings: string[]
}

/** Finds the launchers of a command and the program they start. */
export function findInnerCommand(command: readonly string[]): LaunchChain {
  const first = plainName(command[0] ?? '')
  const inner: LaunchChain = { names: [first], heads: [], begin: -1, strings: [] }
  if (first === 'parallel' || FINDERS.has(first)) inner.strings.push('{')
  let isWaiting = FINDERS.has(first) // for -exec
  let room = OPERAND_COUNTS.get(first) ?? 0
  for (let i = 1; i < command.length; i++) {
    const word = command[i]!
    const launcher = inner.names.at(-1)!
    if (FINDERS.has(first) && EXEC_OPTION.test(word)) {
      isWaiting = false
      room = 0
      inner.begin = -1
    } else if (
      inner.begin >= 0 ||
      isWaiting ||
      word === '--' ||
      (FINDERS.has(first) && /^[;+]$/.test(word))
    ) {
    } else if (FEEDERS.has(launcher) && REPLACE.test(word)) {
      const [, short, own, long] = REPLACE.exec(word)!
      const isApart = short !== undefined && /[IJ]/.test(short) && own === ''
      inner.strings.push((isApart ? command[++i] : own || long) || '{}')
    } else if (/^[-+]./.test(word)) {
      if (!/=|\d/.test(word) && !VALUELESS_OPTIONS.get(launcher)?.test(word)) room++
    } else if (!/^\w+=/.test(word)) {
      inner.heads.push(i)
      const name = plainName(word)
      if (isLauncher(name, command.slice(i + 1))) {
        inner.names.push(name)
        room = OPERAND_COUNTS.get(name) ?? 0
        if (name === 'parallel') inner.strings.push('{')
      } else if (--room < 0) inner.begin = i
    }
  }
  return inner
}

/** Whether a word only declares which placeholder to replace. */
function isDeclaring(command: readonly string[], i: number, string: string): boolean {
  const [, short, own] = REPLACE.exec(command[i]!) ?? []
  if (short !== undefined) return own === string || own === ''
  return command[i] === string && /^-[0rtpxo]*[IJ]$/.test(command[i - 1] ?? '')
}

/** Whether a script operand is, or may be, what comes through a pipe. */
export function isInput(operand = '-'): boolean {
  const path = posix.normalize(operand)
  return (
    path === '-' || GLOB.test(path) || /^(\/|(\.\.\/)+)(dev|proc)\/|(^|\/)stdin$|(^|\/)fd\/\d/i.test(path)
  )
}

/** Matches words with a wildcard. A word with spaces is a line, or was quoted. */
const GLOB = /^[^\s]*[*?[][^\s]*$/

/** Shell options that take no value, except -o and -O. */
const PLAIN_OPTION = /^([-+][aehilmnuvxoO]+|--(login|noprofile|norc|posix|verbose|version|help))$/
const REPLACE = /^(-[0rtpxo]*[IJi])(.*)$|^--replace(?:=(.*))?$/s
const ROOT = /^(sudo|doas)$/
const ROOT_SHELL = /^(-[A-Za-z]*[si]|--shell$|--login$)/
