import { cac } from 'cac'
import { CrabError } from '../core/base/errors.ts'
import { nearest } from '../core/base/nearest.ts'
import { checkSender } from '../core/base/sender-name.ts'
import { formatArgumentNotation } from './arguments.ts'
import type { Command, CommandOption, ParsedOptions } from './command.ts'

/** A command, and the name of the program it belongs to. */
interface CommandContext {
  program: string
  command: Command
}

/** Parses what stands behind a command's name. Throws `usage` naming the nearest flag. */
export function parseOptions(named: CommandContext, argv: readonly string[]): ParsedOptions {
  const given = readRaw(named, argv)
  if (!given.flags.has('help')) {
    for (const option of named.command.options) checkValues(option, given.flags.get(option.name) ?? [])
    checkArguments(named, given.args)
    checkAddresses(named.command, given.args)
  }
  return {
    args: given.args,
    has: (name) => given.flags.has(name),
    count: (name) => given.flags.get(name)?.length ?? 0,
    value: (name) => given.flags.get(name)?.at(-1),
    values: (name) => given.flags.get(name) ?? [],
  }
}

interface RawArguments {
  args: string[]
  flags: Map<string, string[]>
}

/** Reads raw argv by the command's options: cac would turn `007` into 7 and swallow a lone `-`. */
function readRaw(named: CommandContext, argv: readonly string[]): RawArguments {
  const given: RawArguments = { args: [], flags: new Map() }
  const { rawFrom = Number.POSITIVE_INFINITY } = named.command
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!
    const isRaw = given.args.length > rawFrom
    if (word === '--' || isRaw) {
      given.args.push(...argv.slice(isRaw ? at : at + 1))
      break
    }
    if (word === '-' || !word.startsWith('-')) given.args.push(word)
    else if (readFlag({ named, given, word, next: argv[at + 1] })) at++
  }
  return given
}

/** Takes one `--name`, `--name=value`, `-abc` or `-nVALUE`; says whether the next word was its value. */
function readFlag(at: {
  named: CommandContext
  given: RawArguments
  word: string
  next: string | undefined
}): boolean {
  const { named, given, word, next } = at
  if (word.startsWith('--')) return readLong(at)
  for (let index = 1; index < word.length; index++) {
    const option = named.command.options.find(({ short }) => short === word[index])
    if (!option) throw unknownOption(named, `-${word[index]}`)
    if (!option.value) {
      add(given, option, '')
      continue
    }
    const rest = word.slice(index + 1).replace(/^=/, '')
    add(given, option, rest || takeValue(option, next))
    return rest === ''
  }
  return false
}

function readLong(at: {
  named: CommandContext
  given: RawArguments
  word: string
  next: string | undefined
}): boolean {
  const { named, given, word, next } = at
  const [name, inline] = splitOnce(word.slice(2))
  const option = named.command.options.find((known) => known.name === name)
  if (!option) throw unknownOption(named, `--${name}`)
  if (!option.value && inline !== undefined) {
    throw new CrabError('usage', `Option --${name} takes no value`, { hint: `write --${name} alone` })
  }
  add(given, option, option.value ? (inline ?? takeValue(option, next)) : '')
  return option.value !== undefined && inline === undefined
}

/** The word behind an option that needs a value; a number below 0 is one, so that what is wrong with it can be said. */
function takeValue({ name, value }: CommandOption, next: string | undefined): string {
  if (next !== undefined && (next === '-' || !next.startsWith('-') || /^-\d/.test(next))) return next
  throw new CrabError('usage', `Option --${name} needs a value`, { hint: `for example --${name} ${value}` })
}

function add(given: RawArguments, option: CommandOption, value: string): void {
  const values = given.flags.get(option.name)
  if (values) values.push(value)
  else given.flags.set(option.name, [value])
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.indexOf('=')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function checkValues({ name, kind, choices, refused = [] }: CommandOption, values: readonly string[]): void {
  if (kind === 'sender') for (const value of values) checkSender(value, 'usage')
  const wrong = choices && values.find((value) => !choices.includes(value) && !refused.includes(value))
  if (wrong === undefined) return
  throw new CrabError('usage', `Cannot use --${name} ${wrong}`, {
    hint: `it is one of ${choices!.join(', ')}`,
  })
}

function checkAddresses({ kinds = [] }: Command, args: readonly string[]): void {
  for (const [i, word] of args.entries()) {
    if (kinds[i] === 'address') checkSender(word.slice(word.indexOf('/') + 1), 'usage')
  }
}

/** Lets cac judge whether arguments are missing or too many. */
function checkArguments({ program, command }: CommandContext, args: readonly string[]): void {
  const cli = cac(command.path.join(' '))
  const leaf = cli.command(command.args, command.summary)
  cli.parse(['', '', ...args.map(quoteDash)], { run: false })
  try {
    leaf.checkRequiredArgs()
    leaf.checkUnusedArgs()
  } catch (cause) {
    const name = [program, ...command.path].join(' ')
    throw new CrabError('usage', `Cannot run "${name}": ${argumentProblem(command.args, args)}`, {
      cause,
      hint: `usage: ${name} ${formatArgumentNotation(command.args)}`.trim(),
    })
  }
}

/** What is wrong with so many arguments; they are not repeated, one may be a secret. */
function argumentProblem(notation: string, args: readonly string[]): string {
  const places = formatArgumentNotation(notation).split(' ').filter(Boolean)
  const empty = places[args.indexOf('')]
  if (args.includes('') && args.length <= places.length) return `${empty} is empty`
  const missing = places.slice(args.length).filter((place) => place.startsWith('<'))
  if (missing.length > 0) return `${missing.join(' and ')} is missing`.replace(/( and .*) is /, '$1 are ')
  return places.length === 0 ? 'it takes no arguments' : `it takes no more than ${places.join(' ')}`
}

/** What starts with a dash and is an argument all the same, cac would take for a flag. */
function quoteDash(word: string): string {
  return word.startsWith('-') ? `"${word}"` : word
}

function unknownOption({ program, command }: CommandContext, typed: string): CrabError {
  const names = command.options.map(({ name }) => name).filter((name) => name !== 'yolo') // no slip leads there
  const near = typed.startsWith('--') ? nearest(typed.slice(2), names) : undefined
  const help = `see ${program} ${command.path.join(' ')} --help`
  const hint = command.instead?.[typed] ?? (near ? `did you mean --${near}?` : help)
  return new CrabError('usage', `Unknown option ${typed}`, { hint })
}
