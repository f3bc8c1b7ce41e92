import { wantsColor } from '../cli/color.ts'
import type { Command } from '../cli/command.ts'
import { formatError } from '../cli/error-text.ts'
import type { Host } from '../cli/host.ts'
import { bindServiceName, hasServiceRows } from '../cli/service-rows.ts'
import { CrabError, ERROR_KINDS, toCrabError } from '../core/base/errors.ts'

/** Runs `crabtalk` or `crabup`, whichever name the program was started by, and returns the exit code. */
export async function main(name: string, argv: readonly string[], host: Host): Promise<number> {
  try {
    const code = await route(name, argv, host)
    await Promise.all([host.stdout.flush(), host.stderr.flush()])
    return code
  } catch (reason) {
    const error = toCrabError(reason)
    const color = wantsColor('auto', host.env, host.stderr)
    host.stderr.write(formatError(error, { program: name, debug: argv.includes('--debug'), color }))
    await host.stderr.flush().catch(() => undefined) // there is nowhere left to report it
    return ERROR_KINDS[error.kind].exit
  }
}

async function route(name: string, argv: readonly string[], host: Host): Promise<number> {
  const isHelpFirst = ['help', '--help', '-h'].includes(argv[0] ?? '')
  const isForChat = !isHelpFirst && isChat(name, argv, host)
  const typed = isHelpFirst ? argv.slice(1) : isForChat ? ['chat', ...argv] : argv
  const table = await loadCommandTable(name)
  const isGroupHelp = isHelpOfGroup(table, typed)
  const words = isGroupHelp ? [...typed.slice(0, 1), ...typed.slice(2)] : typed
  const commands = bindServiceName(table, words[0])
  const command = findCommand(commands, words)
  const wantsHelp =
    isHelpFirst || isGroupHelp || (command?.rawFrom === undefined && isHelp(sliceArguments(words, command)))
  if (wantsHelp || (!command && words.length === 0))
    return printHelp({ name, table, commands, command, words, host })
  if (!command || isUnknownVerb(command, commands, words))
    throw await unknownCommandError({ name, table, commands, words, host })
  const [{ parseOptions }, { listOptions }] = await Promise.all([
    import('../cli/parse.ts'),
    import('../cli/sections.ts'),
  ])
  const full = { ...command, options: listOptions(command) }
  const rest = words.slice(command.path.length)
  const options = await reportRefused({ command, words: rest, host }, () =>
    parseOptions({ program: name, command: full }, rest),
  ).catch(async (reason: unknown) => {
    throw isForChat ? await hintAtCommand(name, table, argv, reason) : reason
  })
  if (options.has('help')) return printHelp({ name, table, commands, command, words, host })
  if (isForChat) await refuseCommand(name, table, { argv, args: options.args })
  const run = await command.load()
  const lifetime = new AbortController()
  try {
    const at = options.has('no-daemon') ? withoutDaemon(host) : host
    const { path } = command
    return await run({ program: name, commands: table, path, options, host: at, signal: lifetime.signal })
  } finally {
    lifetime.abort()
  }
}

async function loadCommandTable(name: string): Promise<readonly Command[]> {
  return name === 'crabup' ? (await import('./up/table.ts')).CRABUP : (await import('./table.ts')).CRABTALK
}

/**
 * Whether the word after a command that takes no arguments, and shares its first word with others, is meant
 * as one of these.
 */
function isUnknownVerb(
  { path, args }: Command,
  commands: readonly Command[],
  words: readonly string[],
): boolean {
  const isGroup = commands.some((other) => other.path.length > 1 && other.path[0] === words[0])
  return path.length === 1 && args === '' && isGroup && hasVerb(words)
}

/** Whether the first word is followed by another one, and not by an option. */
function hasVerb([, verb = '-']: readonly string[]): boolean {
  return !verb.startsWith('-')
}

/** Returns the same host, including its getters, with the daemon opted out. */
function withoutDaemon(host: Host): Host {
  const own = Object.getOwnPropertyDescriptors(host)
  return Object.defineProperties({} as Host, { ...own, withoutDaemon: { value: true, enumerable: true } })
}

/**
 * Whether a command line is for the chat: one that begins with an option or a sentence, or is empty while a
 * user is watching.
 */
function isChat(name: string, argv: readonly string[], host: Host): boolean {
  const [first] = argv
  if (name !== 'crabtalk' || isHelp(argv)) return false
  if (first !== undefined) return first.startsWith('-') || /\s/.test(first)
  return (
    host.screen() !== undefined || (host.stdout.isTerminal && ['file', 'pipe'].includes(host.stdinKind()))
  )
}

/** Throws `usage` for a command after options, which would be sent to the agent. */
async function refuseCommand(
  name: string,
  table: readonly Command[],
  { argv, args: [word] }: { argv: readonly string[]; args: readonly string[] },
): Promise<void> {
  if (word === undefined || !table.some(({ path }) => path[0] === word)) return
  const { commandFirst } = await import('../cli/unknown-command.ts')
  throw new CrabError('usage', 'Cannot open the chat: options come after the command', {
    hint: commandFirst(name, table, argv) ?? `${name} ${word} …`,
  })
}

/** Returns the error for options before a command, with the corrected line as its hint. */
async function hintAtCommand(
  name: string,
  table: readonly Command[],
  argv: readonly string[],
  reason: unknown,
): Promise<unknown> {
  if (!(reason instanceof CrabError) || !reason.hint?.startsWith('see ')) return reason
  const { commandFirst } = await import('../cli/unknown-command.ts')
  const line = commandFirst(name, table, argv)
  if (line === undefined) return reason
  return new CrabError(reason.kind, reason.message, { cause: reason, hint: `did you mean "${line}"?` })
}

/** Parses a command line; a program that requested JSON gets errors as JSON, too. */
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

/** Finds the command that these words name; words after `--` name none. */
function findCommand(commands: readonly Command[], words: readonly string[]): Command | undefined {
  return commands.find(({ path }) => path.every((word, index) => words[index] === word))
}

/** Whether `help` comes after the name of a group: `mcp help install`. A command of that name gets it as its argument. */
function isHelpOfGroup(table: readonly Command[], [group, verb]: readonly string[]): boolean {
  const paths = table.map(({ path }) => path).filter(([first]) => first === group)
  return verb === 'help' && paths.length > 0 && paths.every(({ length }) => length > 1)
}

function sliceArguments(words: readonly string[], command: Command | undefined): readonly string[] {
  return words.slice(command?.path.length ?? 0)
}

function isHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  const flags = end < 0 ? words : words.slice(0, end)
  return flags.includes('--help') || flags.includes('-h')
}

/** A command line, with the commands of its program. */
interface CommandLine {
  name: string
  table: readonly Command[]
  /** The table with the name on this line in place of `<service>`. */
  commands: readonly Command[]
  words: readonly string[]
  host: Host
}

async function printHelp(line: CommandLine & { command: Command | undefined }): Promise<number> {
  const { name, commands, command, words, host } = line
  const { commandHelp, groupHelp, programHelp } = await import('../cli/help.ts')
  const [group] = words.filter((word) => !word.startsWith('-'))
  const isGroup = commands.some(({ path }) => path.length > 1 && path[0] === group)
  const isKnown = command
    ? !isUnknownVerb(command, commands, words)
    : group === undefined || (isGroup && !hasVerb(words) && (await isNamed(line)))
  if (!isKnown) throw await unknownCommandError(line)
  const page = group === undefined ? programHelp(name, commands) : groupHelp(name, commands, group)
  host.stdout.write(command ? commandHelp(name, command, commands) : page)
  return 0
}

/** Whether the first word is in the table, or is the name of an existing service. */
async function isNamed({ table, commands, words, host }: CommandLine): Promise<boolean> {
  if (table === commands) return true
  const { serviceNames } = await import('./up/service/names.ts')
  return (await serviceNames(host)).some(({ name }) => name === words[0])
}

async function unknownCommandError(line: CommandLine): Promise<CrabError> {
  const { name, table, commands, host } = line
  const { unknownCommand } = await import('../cli/unknown-command.ts')
  const unknown = { ...line, others: await loadCommandTable(name === 'crabup' ? 'crabtalk' : 'crabup') }
  if (table === commands && !hasServiceRows(table)) return unknownCommand(unknown, [])
  const { serviceNames } = await import('./up/service/names.ts')
  return unknownCommand(
    unknown,
    (await serviceNames(host)).map(({ name }) => name),
  )
}
