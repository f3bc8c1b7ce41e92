import { FINDERS, LAUNCHERS, LINE_READERS, SHELL_PROGRAMS } from '../base/programs/launcher-names.ts'
import { lexShell, QUOTED_VALUE, UNQUOTED_VALUE } from '../base/shell-lexer.ts'
import { innerCommandStart, isLauncher, isUnseen, plainName, readsInput } from './inner-command.ts'

/** What a simple command may run in the end, as far as its words show. */
export interface Reach {
  /** Each as its words; the command itself is the first. Names are also given without their folder. */
  commands: readonly (readonly string[])[]
  /** Whether that is all; false when a part of it cannot be read. */
  isClear: boolean
}

/**
 * The commands that a simple command may start: itself, and what programs such as sudo, xargs or `sh -c` are told to.
 *
 * It rather finds too much than too little (every end of `sudo …` counts as a command): for rules that restrict only.
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

/** As findReach(), of words with values of parameters, which are plain arguments to what starts nothing. */
export function findReachWithValues(command: readonly string[]): Reach {
  const isPlain = !command.some((word) => word.includes(UNQUOTED_VALUE) || word.includes(QUOTED_VALUE))
  const name = plainName(command[0] ?? '')
  const starts = SHELL_PROGRAMS.has(name) || LAUNCHERS.has(name) || FINDERS.has(name)
  return isPlain || !starts ? findReach(command) : { commands: [], isClear: false }
}

/** One end of a launcher's words; the ends of that are among the launcher's own. */
function findEndReach(words: readonly string[]): Reach {
  const [name = '', ...args] = words
  const commands = attachedLines(name).flatMap((line) => withPlainName([line, ...args]))
  return { commands: [...withPlainName(words), ...commands], isClear: !readsInput(plainName(name), args) }
}

/** What may be a line for a shell among the words of a launcher. */
function findShellLines(command: readonly string[]): string[] {
  const args = command.slice(1)
  if (!command.some(readsLines)) return [...args.filter(isLine), ...args.flatMap(attachedLines)]
  const start = innerCommandStart(command)
  const lines = command.filter(
    (word, i) => i > 0 && (start >= 0 && i >= start ? isNamed(word) : isUnusual(word)),
  )
  return [...lines, ...args.flatMap(attachedLines)]
}

/** What an option may have in its own word: `-c'rm x'`, `-qc'rm x'`, `--command='rm x'`. */
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

/** Whether it runs a line that it is given in one word. */
function readsLines(name: string): boolean {
  const plain = plainName(name)
  return SHELL_PROGRAMS.has(plain) || LINE_READERS.has(plain)
}

/** Of a word that goes to no shell for sure: whether it is one of several words all the same. */
function isLine(word: string): boolean {
  return /[\s;&|<>()$`]/.test(word) && isNamed(word)
}

/** Whether a shell could make something else of a word: `r""m` is `rm` to it. `-I{}` is for xargs. */
function isUnusual(word: string): boolean {
  return !/^(?:[\w@%+=:,./-]*|-\w+\{\})$/.test(word) && isNamed(word)
}

/** `{}` and `;` are nobody's name. */
function isNamed(word: string): boolean {
  return /[\p{L}\p{N}]/u.test(word)
}

/** Beyond these a command is not looked into. */
const MAX_DEPTH = 4
const MAX_ARGS = 200
/** In one word. */
const MAX_LINES = 8
