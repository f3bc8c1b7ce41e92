import { CrabError, ERROR_KINDS, toCrabError } from '../core/base/errors.ts'
import { wantsColor } from './color.ts'
import type { Command } from './command.ts'
import { formatError } from './error-text.ts'
import type { Host } from './host.ts'
import { bindServiceName, hasServiceRows } from './service-rows.ts'

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
    return ERROR_KINDS[error.kind].exit
  }
}

async function route(name: string, argv: readonly string[], host: Host): Promise<number> {
  const isHelpFirst = ['help', '--help', '-h'].includes(argv[0] ?? '')
  const isForChat = !isHelpFirst && isChat(name, argv, host)
  const words = isHelpFirst ? argv.slice(1) : isForChat ? ['chat', ...argv] : argv
  const table = await loadCommandTable(name)
  const commands = bindServiceName(table, words[0])
  const command = findCommand(commands, words)
  const wantsHelp = isHelpFirst || (command?.rawFrom === undefined && isHelp(sliceArguments(words, command)))
  if (wantsHelp || (!command && words.length === 0))
    return help({ name, table, commands, command, words, host })
  if (!command || isUnknownVerb(command, commands, words))
    throw await unknownCommandError({ name, table, commands, words, host })
  const [{ parseOptions }, { listOptions: optionsOf }] = await Promise.all([
    import('./parse.ts'),
    import('./sections.ts'),
  ])
  const full = { ...command, options: optionsOf(command) }
  const rest = words.slice(command.path.length)
  const options = await reportRefused({ command, words: rest, host }, () =>
    parseOptions({ program: name, command: full }, rest),
  ).catch(async (reason: unknown) => {
    throw isForChat ? await hintAtCommand(name, table, argv, reason) : reason
  })
  if (options.has('help')) return help({ name, table, commands, command, words, host })
  if (isForChat) refuseCommand(name, table, options.args)
  const run = await command.load()
  const over = new AbortController()
  try {
    const at = options.has('no-daemon') ? withoutDaemon(host) : host
    const { path } = command
    return await run({ program: name, commands: table, path, options, host: at, signal: over.signal })
  } finally {
    over.abort()
  }
}

async function loadCommandTable(name: string): Promise<readonly Command[]> {
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

/** Options or a sentence behind the program's name are for the chat, and so is its name alone for a person who looks on. */
function isChat(name: string, argv: readonly string[], host: Host): boolean {
  const [first] = argv
  if (name !== 'crabtalk' || isHelp(argv)) return false
  if (first !== undefined) return first.startsWith('-') || /\s/.test(first)
  return (
    host.screen() !== undefined || (host.stdout.isTerminal && ['file', 'pipe'].includes(host.stdinKind()))
  )
}

/** A command behind options would be said to the agent. */
function refuseCommand(name: string, table: readonly Command[], [word]: readonly string[]): void {
  if (word === undefined || !table.some(({ path }) => path[0] === word)) return
  throw new CrabError('usage', `Cannot open the chat: "${word}" is a command, and those stand first`, {
    hint: `${name} ${word} …, or ${name} chat … to say it to the agent`,
  })
}

/** Returns an error about a line with options before a command, with the right line as its hint. */
async function hintAtCommand(
  name: string,
  table: readonly Command[],
  argv: readonly string[],
  reason: unknown,
): Promise<unknown> {
  if (!(reason instanceof CrabError) || !reason.hint?.startsWith('see ')) return reason
  const { commandFirst } = await import('./unknown-command.ts')
  const line = commandFirst(name, table, argv)
  if (line === undefined) return reason
  return new CrabError(reason.kind, reason.message, { cause: reason, hint: `did you mean "${line}"?` })
}

/** Reads a command line; a program that asked for JSON gets what is wrong with it as JSON, too. */
async function reportRefused<T>(
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
function findCommand(commands: readonly Command[], words: readonly string[]): Command | undefined {
  return commands.find(({ path }) => path.every((word, index) => words[index] === word))
}

function sliceArguments(words: readonly string[], command: Command | undefined): readonly string[] {
  return words.slice(command?.path.length ?? 0)
}

function isHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  const flags = end < 0 ? words : words.slice(0, end)
  return flags.includes('--help') || flags.includes('-h')
}

/** A command line, and what there is. */
interface CommandLine {
  name: string
  table: readonly Command[]
  /** The table as this line means it. */
  commands: readonly Command[]
  words: readonly string[]
  host: Host
}

async function help(line: CommandLine & { command: Command | undefined }): Promise<number> {
  const { name, commands, command, words, host } = line
  const { commandHelp, groupHelp, programHelp } = await import('./help.ts')
  const [group] = words.filter((word) => !word.startsWith('-'))
  const isGroup = commands.some(({ path }) => path.length > 1 && path[0] === group)
  if (!command && group !== undefined && !(isGroup && (await isNamed(line))))
    throw await unknownCommandError(line)
  const page = group === undefined ? programHelp(name, commands) : groupHelp(name, commands, group)
  host.stdout.write(command ? commandHelp(name, command) : page)
  return 0
}

/** Whether the first word is one of the table's, or the name of a service there is. */
async function isNamed({ table, commands, words, host }: CommandLine): Promise<boolean> {
  if (table === commands) return true
  const { serviceNames } = await import('./up/service/names.ts')
  return (await serviceNames(host)).some(({ name }) => name === words[0])
}

async function unknownCommandError(line: CommandLine): Promise<CrabError> {
  const { table, commands, host } = line
  const { unknownCommand } = await import('./unknown-command.ts')
  if (table === commands && !hasServiceRows(table)) return unknownCommand(line, [])
  const { serviceNames } = await import('./up/service/names.ts')
  return unknownCommand(
    line,
    (await serviceNames(host)).map(({ name }) => name),
  )
}
