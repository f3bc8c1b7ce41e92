import { CrabError, KINDS, toCrabError } from '../core/base/errors.ts'
import { wantsColor } from './color.ts'
import type { Command } from './command.ts'
import { formatError } from './error-text.ts'
import type { Host } from './host.ts'

/** Runs `crabtalk` or `crabup` (whichever name it was started by) and gives the exit code. */
export async function main(name: string, argv: readonly string[], host: Host): Promise<number> {
  try {
    const code = await route(name, argv, host)
    await Promise.all([host.stdout.flush(), host.stderr.flush()])
    return code
  } catch (reason) {
    const error = toCrabError(reason)
    const color = wantsColor('auto', host.env, host.stderr)
    host.stderr.write(formatError(error, { program: name, debug: argv.includes('--debug'), color }))
    await host.stderr.flush().catch(() => undefined) // nowhere is left to say it
    return KINDS[error.kind].exit
  }
}

async function route(name: string, argv: readonly string[], host: Host): Promise<number> {
  const commands = await commandsOf(name)
  const isHelpFirst = ['help', '--help', '-h'].includes(argv[0] ?? '')
  const words = isHelpFirst ? argv.slice(1) : isChat(name, argv, host) ? ['chat', ...argv] : argv
  const command = find(commands, words)
  const wantsHelp = isHelpFirst || (command?.rawFrom === undefined && isHelp(behind(words, command)))
  if (wantsHelp || (!command && words.length === 0)) return help({ name, commands, command, words, host })
  if (!command || isUnknownVerb(command, commands, words)) throw await unknownCommand(name, commands, words)
  const [{ parseOptions }, { optionsOf }] = await Promise.all([import('./parse.ts'), import('./sections.ts')])
  const full = { ...command, options: optionsOf(command) }
  const rest = words.slice(command.path.length)
  const options = await orReported({ command, words: rest, host }, () =>
    parseOptions({ program: name, command: full }, rest),
  )
  if (options.has('help')) return help({ name, commands, command, words, host })
  const run = await command.load()
  const over = new AbortController()
  try {
    const at = options.has('no-daemon') ? withoutDaemon(host) : host
    return await run({ program: name, commands, options, host: at, signal: over.signal })
  } finally {
    over.abort()
  }
}

async function commandsOf(name: string): Promise<readonly Command[]> {
  return name === 'crabup' ? (await import('./up/table.ts')).CRABUP : (await import('./table.ts')).CRABTALK
}

/** Of a command that takes no arguments and has others behind its word, a word behind it is meant to be one of them. */
function isUnknownVerb(
  { path, args }: Command,
  commands: readonly Command[],
  words: readonly string[],
): boolean {
  const [word, verb = '-'] = words
  const isGroup = commands.some((other) => other.path.length > 1 && other.path[0] === word)
  return path.length === 1 && args === '' && isGroup && !verb.startsWith('-')
}

/** The same process, getters included. */
function withoutDaemon(host: Host): Host {
  const own = Object.getOwnPropertyDescriptors(host)
  return Object.defineProperties({} as Host, { ...own, withoutDaemon: { value: true, enumerable: true } })
}

/** On a terminal the program's name alone, its options, or a sentence behind it open the chat. */
function isChat(name: string, argv: readonly string[], host: Host): boolean {
  const [first = '-'] = argv
  const isForChat = first.startsWith('-') || /\s/.test(first)
  return name === 'crabtalk' && isForChat && !isHelp(argv) && host.screen() !== undefined
}

/** Reads a command line; a program that asked for JSON gets what is wrong with it as JSON, too. */
async function orReported<T>(
  { command, words, host }: { command: Command; words: readonly string[]; host: Host },
  read: () => T,
): Promise<T> {
  try {
    return read()
  } catch (reason) {
    const report = await command.loadRefusal?.()
    await report?.({ error: toCrabError(reason), words, host })
    throw reason
  }
}

/** The command these words name; words behind `--` name none. */
function find(commands: readonly Command[], words: readonly string[]): Command | undefined {
  return commands.find(({ path }) => path.every((word, index) => words[index] === word))
}

function behind(words: readonly string[], command: Command | undefined): readonly string[] {
  return words.slice(command?.path.length ?? 0)
}

function isHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  const flags = end < 0 ? words : words.slice(0, end)
  return flags.includes('--help') || flags.includes('-h')
}

async function help(at: {
  name: string
  commands: readonly Command[]
  command: Command | undefined
  words: readonly string[]
  host: Host
}): Promise<number> {
  const { name, commands, command, words, host } = at
  const { commandHelp, groupHelp, programHelp } = await import('./help.ts')
  const [group] = words.filter((word) => !word.startsWith('-'))
  const isGroup = commands.some(({ path }) => path.length > 1 && path[0] === group)
  if (!command && group !== undefined && !isGroup) throw await unknownCommand(name, commands, words)
  const page = group === undefined ? programHelp(name, commands) : groupHelp(name, commands, group)
  host.stdout.write(command ? commandHelp(name, command) : page)
  return 0
}

async function unknownCommand(
  name: string,
  commands: readonly Command[],
  words: readonly string[],
): Promise<CrabError> {
  const { nearest } = await import('../core/base/nearest.ts')
  const inGroup = commands.filter(({ path }) => path.length > 1 && path[0] === words[0])
  if (inGroup.length > 0 && words.length === 1) {
    const verbs = inGroup.map(({ path }) => path[1]).join(', ')
    return new CrabError('usage', `Cannot run "${name} ${words[0]}" alone: name one of ${verbs}`, {
      hint: `see ${name} ${words[0]} --help`,
    })
  }
  const typed = words.slice(0, inGroup.length > 0 ? 2 : 1).join(' ')
  const known = (inGroup.length > 0 ? inGroup : commands)
    .filter(({ hidden }) => !hidden)
    .map(({ path }) => path.slice(0, inGroup.length > 0 ? 2 : 1).join(' '))
  const inSome = commands.find(({ path }) => path[1] === typed)?.path.join(' ')
  const near = inGroup.length > 0 ? nearVerb(words, known, nearest) : (nearest(typed, known) ?? inSome)
  const what = typed.startsWith('-') ? 'option' : 'command'
  return new CrabError('usage', `Unknown ${what} "${typed}"`, {
    hint: near
      ? `did you mean "${name} ${near}"?`
      : `see ${name}${inGroup.length > 0 ? ` ${words[0]}` : ''} --help`,
  })
}

/** What is meant by the second word of a line: by what other programs call it, or how it is spelt. */
function nearVerb(
  [group = '', verb = '']: readonly string[],
  known: readonly string[],
  nearest: (word: string, candidates: readonly string[]) => string | undefined,
): string | undefined {
  const other = SAME.get(verb)?.find((same) => known.includes(`${group} ${same}`))
  if (other) return `${group} ${other}`
  const verbs = known.map((path) => path.slice(group.length + 1))
  const near = verb === 'help' ? undefined : nearest(verb, verbs)
  return near && `${group} ${near}`
}

/** What is called otherwise elsewhere, and in which groups; the first that a group has is meant. */
const SAME: ReadonlyMap<string, readonly string[]> = new Map([
  ['rm', ['remove', 'forget', 'delete']],
  ['del', ['remove', 'forget', 'delete']],
  ['delete', ['remove', 'forget']],
  ['remove', ['forget', 'delete']],
  ['ls', ['list']],
  ['show', ['get']],
  ['get', ['show']],
  ['cat', ['show']],
  ['create', ['add', 'remember']],
  ['add', ['create', 'remember']],
  ['set', ['edit', 'remember']],
  ['edit', ['set', 'remember']],
  ['mv', ['rename']],
  ['find', ['search']],
  ['grep', ['search']],
  ['recall', ['search']],
  ['export', ['dump']],
  ['import', ['load']],
  ['restart', ['reconnect']],
])
