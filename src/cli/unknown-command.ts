import { CrabError } from '../core/base/errors.ts'
import { nearest } from '../core/base/nearest.ts'
import type { Command } from './command.ts'
import { expandServiceRows, SERVICE_PLACEHOLDER } from './service-rows.ts'

/** A command line that names no command. */
interface UnknownLine {
  /** The name of the program. */
  name: string
  table: readonly Command[]
  /** The table with the name on this line in place of `<service>`. */
  commands: readonly Command[]
  words: readonly string[]
  /** The commands of the other program. */
  others: readonly Command[]
}

/**
 * Returns the error for a line that names no command, with what may have been meant; `services` are the names
 * of all existing services.
 */
export function unknownCommand(line: UnknownLine, services: readonly string[]): CrabError {
  const { name, table, words } = line
  const [word = ''] = words
  const isService = line.commands !== table
  const commands = isService && !services.includes(word) ? expandServiceRows(table, services) : line.commands
  const inGroup = commands.filter(({ path, hidden }) => !hidden && path.length > 1 && path[0] === word)
  if (inGroup.length > 0 && words.length === 1) return missingVerbError(`${name} ${word}`, inGroup)
  const length = inGroup.length > 0 ? 2 : 1
  const typed = words.slice(0, length).join(' ')
  const elsewhere =
    commandFirst(name, table, words) ??
    findInOtherProgram(line, services) ??
    (name === 'crabtalk' && inGroup.length === 0 ? ELSEWHERE.get(word) : undefined)
  const swapped = findSwapped(commands, words)
  const near = swapped ?? guessCommand({ words, typed, inGroup, commands })
  const whole = elsewhere ?? (near && `${name} ${near}`)
  const isVerb = name === 'crabtalk' && (elsewhere ?? swapped) === undefined && inGroup.length === 0
  const verbs = isVerb ? findVerb(commands, typed) : []
  const what = typed.startsWith('-') ? `option ${typed}` : `command "${typed}"`
  return new CrabError('usage', `Unknown ${what}`, {
    hint:
      verbs.length > 1
        ? oneOf(verbs)
        : whole
          ? `did you mean "${whole}"?`
          : `see ${name}${length > 1 ? ` ${word}` : ''} --help`,
  })
}

/** Returns a line that begins with an option with its command first; undefined when it has no command. */
export function commandFirst(
  name: string,
  table: readonly Command[],
  words: readonly string[],
): string | undefined {
  const [option = ''] = words
  if (!option.startsWith('-')) return undefined
  const names = new Set(table.map(({ path }) => path[0]))
  const begin = words.findIndex((word) => names.has(word))
  if (begin < 0) return undefined
  const commands = table.filter(({ path }) => path.every((one, i) => one === words[begin + i]))
  const command = commands.toSorted((a, b) => b.path.length - a.path.length)[0]
  const isRefused = command?.needsDaemon && option === '--no-daemon'
  return [name, ...(command?.path ?? words.slice(begin, begin + 1)), ...(isRefused ? [] : [option])].join(' ')
}

function missingVerbError(group: string, rows: readonly Command[]): CrabError {
  const [only, ...others] = rows
  if (only && others.length === 0) {
    return new CrabError('usage', `Cannot run "${group}" alone: its second word is missing`, {
      hint: `did you mean "${group} ${only.path[1]}"?`,
    })
  }
  const verbs = rows.map(({ path }) => path[1]).join(', ')
  return new CrabError('usage', `Cannot run "${group}" alone: name one of ${verbs}`, {
    hint: `see ${group} --help`,
  })
}

/**
 * Returns the line of the other program, for groups that both programs have and of which each has half of the
 * verbs.
 */
function findInOtherProgram(
  { name, table, words, others }: UnknownLine,
  services: readonly string[],
): string | undefined {
  const [group = '', verb = ''] = words
  const other = name === 'crabtalk' ? 'crabup' : 'crabtalk'
  const isFirst = (commands: readonly Command[]) =>
    commands.some(({ path, hidden }) => !hidden && path[0] === group)
  if (name === 'crabup' && isFirst(others) && !isFirst(table) && !services.includes(group))
    return findLongest(other, others, words)
  return HALVES[other][group]?.includes(verb) ? `${other} ${group} ${verb}` : undefined
}

/** Returns the longest command of a program that a line begins with, else its first word. */
function findLongest(program: string, commands: readonly Command[], words: readonly string[]): string {
  const paths = commands.map(({ path }) => path).filter((path) => path.every((word, i) => word === words[i]))
  const longest = paths.toSorted((a, b) => b.length - a.length)[0] ?? words.slice(0, 1)
  return [program, ...longest].join(' ')
}

/** Returns the commands whose second word is this one. */
function findVerb(commands: readonly Command[], verb: string): string[] {
  return commands.flatMap(({ path, hidden }) => (!hidden && path[1] === verb ? [path.join(' ')] : []))
}

function oneOf(commands: readonly string[]): string {
  return `say which: ${commands.slice(0, -1).join(', ')} or ${commands.at(-1)}`
}

/** Finds `daemon start` for `start daemon`. */
function findSwapped(commands: readonly Command[], [verb, name]: readonly string[]): string | undefined {
  return commands
    .find(({ path }) => path.length === 2 && path[0] === name && path[1] === verb)
    ?.path.join(' ')
}

function guessCommand(at: {
  words: readonly string[]
  typed: string
  inGroup: readonly Command[]
  commands: readonly Command[]
}): string | undefined {
  const { words, typed, inGroup, commands } = at
  if (inGroup.length > 0) return findNearVerb(words, toNames(inGroup, 2))
  return findVerb(commands, typed)[0] ?? nearest(typed, toNames(commands, 1))
}

function toNames(commands: readonly Command[], length: number): string[] {
  const shown = commands.filter(({ hidden, path }) => !hidden && path[0] !== SERVICE_PLACEHOLDER)
  return shown.map(({ path }) => path.slice(0, length).join(' '))
}

/** Finds the intended second word of a line: by its synonyms in other programs, or by its spelling. */
function findNearVerb(
  [group = '', verb = '']: readonly string[],
  known: readonly string[],
): string | undefined {
  const other = SYNONYMS.get(verb)?.find((same) => known.includes(`${group} ${same}`))
  if (other) return `${group} ${other}`
  const verbs = known.map((path) => path.slice(group.length + 1))
  const near = verb === 'help' ? undefined : nearest(verb, verbs)
  return near && `${group} ${near}`
}

/** The verbs that have another name in other programs; the first one that a group has is suggested. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
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

const VERBS = ['start', 'stop', 'restart', 'status', 'enable', 'disable', 'logs']
/**
 * The verbs of each program in the groups that both have, looked up only for lines that the other program
 * does not know.
 */
const HALVES: Readonly<Record<'crabtalk' | 'crabup', Readonly<Record<string, readonly string[]>>>> = {
  crabtalk: { daemon: ['run', 'reload'], cron: ['list', 'add', 'remove', 'next', 'run'] },
  crabup: { daemon: VERBS, cron: VERBS },
}

/** The names that other programs use for these commands. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'crabtalk send': ['run', 'exec', 'ask', 'prompt', 'print'],
    'crabtalk chat': ['tui', 'repl'],
    'crabtalk --resume': ['resume', 'continue'],
    'crabtalk chat /init': ['init'],
    'crabtalk conversation list': ['sessions', 'session', 'history', 'threads'],
    'crabtalk config': ['settings', 'configure'],
    'crabtalk connect': ['login', 'auth', 'setup', 'key', 'keys'],
    'crabtalk doctor': ['model', 'models'],
    'crabtalk policy why': ['permissions', 'rules'],
    'crabup ps': ['ps', 'services'],
    'crabup daemon start': ['start'],
    'crabup daemon logs': ['logs'],
    'crabup pull': ['pull', 'install'],
    'crabup self update': ['update', 'upgrade'],
    'crabup uninstall': ['uninstall'],
  }).flatMap(([command, words]) => words.map((word) => [word, command] as const)),
)
