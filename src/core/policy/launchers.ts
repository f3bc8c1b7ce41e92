import { basename } from 'node:path'
import { lexShell } from '../base/shell-lexer.ts'

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
export function reachOf(command: readonly string[], depth = 0): Reach {
  const [name = '', ...args] = command
  const plain = plainName(name)
  const itself = withPlainName(command)
  if (!isLauncher(plain, args)) return { commands: itself, isClear: true }
  if (depth >= MAX_DEPTH || args.length > MAX_ARGS) return { commands: itself, isClear: false }
  const ends = args.map((_, i) => args.slice(i)).map((end) => reachOfEnd(end))
  const lines = args
    .filter(command.some(readsLines) ? isUnusual : isLine)
    .map((line) => reachOfLine(line, depth + 1))
  const inner = [...ends, ...lines]
  return {
    commands: [...itself, ...inner.flatMap(({ commands }) => commands)],
    isClear: !readsInput(plain, args) && inner.every(({ isClear }) => isClear),
  }
}

/** One end of a launcher's words; the ends of that are among the launcher's own. */
function reachOfEnd(words: readonly string[]): Reach {
  const [name = '', ...args] = words
  return { commands: withPlainName(words), isClear: !readsInput(plainName(name), args) }
}

function withPlainName(words: readonly string[]): (readonly string[])[] {
  const [name = '', ...args] = words
  const plain = plainName(name)
  return plain === name ? [words] : [words, [plain, ...args]]
}

/** `rm` for `/bin/RM`, which is the same program where upper and lower case are. */
function plainName(name: string): string {
  return basename(name).toLowerCase()
}

function reachOfLine(line: string, depth: number): Reach {
  const lexed = lexShell(line)
  if ('opaque' in lexed) return { commands: [], isClear: false }
  const reaches = lexed.commands.map((words) =>
    reachOf(
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
  return SHELLS.has(plain) || LINE_READERS.has(plain)
}

/** Of a word that goes to no shell for sure: whether it is one of several words all the same. */
function isLine(word: string): boolean {
  return /[\s;&|<>()$`]/.test(word) && isNamed(word)
}

/** Whether a shell could make something else of a word: `r""m` is `rm` to it. */
function isUnusual(word: string): boolean {
  return !/^[\w@%+=:,./-]*$/.test(word) && isNamed(word)
}

/** `{}` and `;` are nobody's name. */
function isNamed(word: string): boolean {
  return /[\p{L}\p{N}]/u.test(word)
}

function isLauncher(name: string, args: readonly string[]): boolean {
  if (SHELLS.has(name) || LAUNCHERS.has(name)) return true
  return (
    FINDERS.has(name) &&
    args.some((arg) => /^(-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(arg))
  )
}

/** Whether it is a shell that takes its commands from a pipe. */
function readsInput(name: string, args: readonly string[]): boolean {
  return SHELLS.has(name) && args.every((arg) => /^[-+]/.test(arg))
}

/** Beyond these a command is not looked into. */
const MAX_DEPTH = 4
const MAX_ARGS = 200

const SHELLS: ReadonlySet<string> = new Set('sh bash dash zsh ksh mksh ash rbash fish csh tcsh'.split(' '))

const LINE_READERS: ReadonlySet<string> = new Set(
  'env su runuser watch script parallel flock ssh entr'.split(' '),
)

const LAUNCHERS: ReadonlySet<string> = new Set(
  (
    'command jobs env nohup nice ionice chrt taskset sudo doas su runuser pkexec xargs parallel timeout gtimeout stdbuf ' +
    'setsid setpriv setarch prlimit time unshare nsenter chroot flock watch script strace ltrace unbuffer busybox ' +
    'toybox entr caffeinate arch systemd-run systemd-inhibit fakeroot proot bwrap firejail torsocks proxychains ' +
    'xvfb-run dbus-run-session direnv ssh npx bunx pnpx uvx'
  ).split(' '),
)

/** Launchers with some of their options. */
const FINDERS: ReadonlySet<string> = new Set(['find', 'gfind', 'fd', 'fdfind'])
