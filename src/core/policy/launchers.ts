import { FINDERS, LAUNCHERS, LINE_READERS, SHELL_PROGRAMS } from '../base/programs/launcher-names.ts'
import { lexShell, QUOTED_VALUE, UNQUOTED_VALUE } from '../base/shell-lexer.ts'
import { innerCommandStart, isLauncher, isUnseen, plainName, readsInput } from './inner-command.ts'

/** The commands that a simple command may finally run, as far as its words show. */
export interface Reach {
  /** The commands as words, first the command itself. Each is also listed with its name without the folder. */
  commands: readonly (readonly string[])[]
  /** Whether the list is complete; false when a part of the command cannot be read. */
  isClear: boolean
}

/**
 * Returns the commands that a simple command may start: itself, and those that programs such as sudo, xargs
 * or `sh -c` start.
 *
 * The result errs on the side of too many commands (every tail of `sudo …` counts as a command), so it is for
 * restricting rules only.
 */
export function findReach(command: readonly string[], depth = 0): Reach {
  const [name = '', ...args] = command
  const plain = plainName(name)
  const itself = withPlainName(command)
  if (!isLauncher(plain, args)) return { commands: itself, isClear: true }
  if (depth >= MAX_DEPTH || args.length > MAX_ARGS) return { commands: itself, isClear: false }
  const ends = args.map((_, i) => findEndReach(args.slice(i)))
  const lines = findShellLines(command).map((line) => findLineReach(line, depth + 1))
  const inner = [...ends, ...lines]
  return {
    commands: [...itself, ...inner.flatMap(({ commands }) => commands)],
    isClear: !readsInput(plain, args) && !isUnseen(command) && inner.every(({ isClear }) => isClear),
  }
}

/**
 * Like findReach(), for words with values of parameters. These are plain arguments when the program starts
 * nothing.
 */
export function findReachWithValues(command: readonly string[]): Reach {
  const isPlain = !command.some((word) => word.includes(UNQUOTED_VALUE) || word.includes(QUOTED_VALUE))
  const name = plainName(command[0] ?? '')
  const starts = SHELL_PROGRAMS.has(name) || LAUNCHERS.has(name) || FINDERS.has(name)
  return isPlain || !starts ? findReach(command) : { commands: [], isClear: false }
}

/** Returns the reach of one tail of a launcher's words. Shorter tails are covered by the launcher's own. */
function findEndReach(words: readonly string[]): Reach {
  const [name = '', ...args] = words
  const commands = attachedLines(name).flatMap((line) => withPlainName([line, ...args]))
  return { commands: [...withPlainName(words), ...commands], isClear: !readsInput(plainName(name), args) }
}

/** Returns the words of a launcher that may be shell lines. */
function findShellLines(command: readonly string[]): string[] {
  const args = command.slice(1)
  if (!command.some(readsLines)) return [...args.filter(isLine), ...args.flatMap(attachedLines)]
  const start = innerCommandStart(command)
  const lines = command.filter(
    (word, i) => i > 0 && (start >= 0 && i >= start ? isNamed(word) : isUnusual(word)),
  )
  return [...lines, ...args.flatMap(attachedLines)]
}

/**
 * Returns the lines that an option may contain in its own word: `-c'rm x'`, `-qc'rm x'`, `--command='rm x'`.
 */
function attachedLines(word: string): string[] {
  const [, letters = ''] = /^-([A-Za-z]*)/.exec(word) ?? []
  const short = [...letters.matchAll(/[cSpsxIe]/g)].map(({ index }) => word.slice(index + 2))
  const [, long = ''] = /^-[^=]*=(?:exec=)?(.*)$/s.exec(word) ?? []
  return [...short.slice(0, MAX_LINES), long].filter(isNamed)
}

function withPlainName(words: readonly string[]): (readonly string[])[] {
  const [name = '', ...args] = words
  const plain = plainName(name)
  return plain === name ? [words] : [words, [plain, ...args]]
}

function findLineReach(line: string, depth: number): Reach {
  const lexed = lexShell(line)
  if ('opaque' in lexed) return { commands: [], isClear: false }
  const reaches = lexed.commands.map((words) =>
    findReach(
      words.map(({ text }) => text),
      depth,
    ),
  )
  return {
    commands: reaches.flatMap(({ commands }) => commands),
    isClear: reaches.every(({ isClear }) => isClear),
  }
}

/** Whether a program runs a line given as one word. */
function readsLines(name: string): boolean {
  const plain = plainName(name)
  return SHELL_PROGRAMS.has(plain) || LINE_READERS.has(plain)
}

/**
 * Whether a word looks like several words, and so like a line, although it certainly does not go to a shell.
 */
function isLine(word: string): boolean {
  return /[\s;&|<>()$`]/.test(word) && isNamed(word)
}

/**
 * Whether a shell could read a word differently, as `r""m` is `rm`. `-I{}` is excluded because it belongs to
 * xargs.
 */
function isUnusual(word: string): boolean {
  return !/^(?:[\w@%+=:,./-]*|-\w+\{\})$/.test(word) && isNamed(word)
}

/** Whether a word can be a name. `{}` and `;` cannot. */
function isNamed(word: string): boolean {
  return /[\p{L}\p{N}]/u.test(word)
}

/** The limits beyond which a command is not analyzed. */
const MAX_DEPTH = 4
const MAX_ARGS = 200
/** The limit for one word. */
const MAX_LINES = 8
