import { cac } from 'cac'
import { CrabError } from '../core/base/errors.ts'
import { nearest } from '../core/base/nearest.ts'
import { checkSender } from '../core/base/sender-name.ts'
import type { Command, CommandOption, ParsedOptions } from './command.ts'
import { formatArgumentNotation } from './command.ts'

/** A command, and the name of its program. */
interface CommandContext {
  program: string
  command: Command
}

/** Parses the words after a command's name. Throws `usage` with the nearest flag as a hint. */
export function parseOptions(context: CommandContext, argv: readonly string[]): ParsedOptions {
  const parsed = readRaw(context, argv)
  if (!parsed.flags.has('help')) {
    for (const option of context.command.options) checkValues(option, parsed.flags.get(option.name) ?? [])
    checkArguments(context, parsed.args)
    checkAddresses(context.command, parsed.args)
  }
  return {
    args: parsed.args,
    has: (name) => parsed.flags.has(name),
    count: (name) => parsed.flags.get(name)?.length ?? 0,
    value: (name) => parsed.flags.get(name)?.at(-1),
    values: (name) => parsed.flags.get(name) ?? [],
  }
}

interface RawArguments {
  args: string[]
  flags: Map<string, string[]>
}

/** Parses raw argv according to the command's options: cac would turn `007` into 7 and swallow a lone `-`. */
function readRaw(context: CommandContext, argv: readonly string[]): RawArguments {
  const parsed: RawArguments = { args: [], flags: new Map() }
  const { rawFrom = Number.POSITIVE_INFINITY } = context.command
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!
    const isRaw = parsed.args.length > rawFrom
    if (word === '--' || isRaw) {
      parsed.args.push(...argv.slice(isRaw ? at : at + 1))
      break
    }
    if (word === '-' || !word.startsWith('-')) parsed.args.push(word)
    else if (readFlag({ context, parsed, word, next: argv[at + 1] })) at++
  }
  return parsed
}

/** Parses one `--name`, `--name=value`, `-abc` or `-nVALUE`; returns whether the next word was its value. */
function readFlag(at: {
  context: CommandContext
  parsed: RawArguments
  word: string
  next: string | undefined
}): boolean {
  const { context, parsed, word, next } = at
  if (word.startsWith('--')) return readLong(at)
  for (let index = 1; index < word.length; index++) {
    const option = context.command.options.find(({ short }) => short === word[index])
    if (!option) throw unknownOption(context, `-${word[index]}`)
    if (!option.value) {
      addValue(parsed, option, '')
      continue
    }
    const rest = word.slice(index + 1).replace(/^=/, '')
    const value = rest || takeValue(option, next)
    addValue(parsed, option, value)
    return rest === '' && value === next
  }
  return false
}

function readLong(at: {
  context: CommandContext
  parsed: RawArguments
  word: string
  next: string | undefined
}): boolean {
  const { context, parsed, word, next } = at
  const [name, inline] = splitOnce(word.slice(2))
  const option = context.command.options.find((known) => known.name === name)
  if (!option) throw unknownOption(context, `--${name}`)
  if (!option.value && inline !== undefined) {
    throw new CrabError('usage', `Option --${name} takes no value`, { hint: `write --${name} alone` })
  }
  const value = option.value ? (inline ?? takeValue(option, next)) : ''
  addValue(parsed, option, value)
  return option.value !== undefined && inline === undefined && value === next
}

/**
 * Returns the word after an option that needs a value. A negative number counts as a value, so that the error
 * can be about the number.
 */
function takeValue({ name, value, isValueOptional }: CommandOption, next: string | undefined): string {
  if (next !== undefined && (next === '-' || !next.startsWith('-') || /^-\d/.test(next))) return next
  if (isValueOptional) return ''
  throw new CrabError('usage', `Option --${name} needs a value`, { hint: `for example --${name} ${value}` })
}

function addValue(parsed: RawArguments, option: CommandOption, value: string): void {
  const values = parsed.flags.get(option.name)
  if (values) values.push(value)
  else parsed.flags.set(option.name, [value])
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.indexOf('=')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function checkValues({ name, kind, choices, refused = [] }: CommandOption, values: readonly string[]): void {
  if (kind === 'sender') for (const value of values) checkSender(value, 'usage')
  const invalid = choices && values.find((value) => !choices.includes(value) && !refused.includes(value))
  if (invalid === undefined) return
  throw new CrabError('usage', `Cannot use --${name} ${invalid}`, {
    hint: `choose one of ${choices!.join(', ')}`,
  })
}

function checkAddresses({ kinds = [] }: Command, args: readonly string[]): void {
  for (const [i, word] of args.entries()) {
    if (kinds[i] === 'address') checkSender(word.slice(word.indexOf('/') + 1), 'usage')
  }
}

/** Checks with cac whether arguments are missing or too many. */
function checkArguments({ program, command }: CommandContext, args: readonly string[]): void {
  const cli = cac(command.path.join(' '))
  const leaf = cli.command(command.args, command.summary)
  cli.parse(['', '', ...args.map(quoteDash)], { run: false })
  try {
    leaf.checkRequiredArgs()
    leaf.checkUnusedArgs()
  } catch (cause) {
    const name = [program, ...command.path].join(' ')
    const notation = formatArgumentNotation(command.args)
    const isSurplus = args.length > notation.split(' ').filter(Boolean).length
    throw new CrabError('usage', `Cannot run "${name}": ${describeArgumentProblem(command.args, args)}`, {
      cause,
      hint: isSurplus && command.surplus ? command.surplus : `${name} ${notation}`.trim(),
    })
  }
}

/** Describes the problem with the number of arguments, without repeating them: one may be a secret. */
function describeArgumentProblem(notation: string, args: readonly string[]): string {
  const places = formatArgumentNotation(notation).split(' ').filter(Boolean)
  const empty = places[args.indexOf('')]
  if (args.includes('') && args.length <= places.length) return `${empty} is empty`
  const missing = places.slice(args.length).filter((place) => place.startsWith('<'))
  if (missing.length > 0) return `${missing.join(' and ')} is missing`.replace(/( and .*) is /, '$1 are ')
  return places.length === 0 ? 'it takes no arguments' : `it takes no more than ${places.join(' ')}`
}

/** Quotes an argument that starts with a dash, which cac would take for a flag. */
function quoteDash(word: string): string {
  return word.startsWith('-') ? `"${word}"` : word
}

function unknownOption({ program, command }: CommandContext, typed: string): CrabError {
  if (command.needsDaemon && typed === '--no-daemon') {
    const name = [program, ...command.path].join(' ')
    return new CrabError('usage', `Cannot run "${name}" with --no-daemon: it needs a daemon`, {
      hint: 'run it without --no-daemon',
    })
  }
  const names = command.options.map(({ name }) => name).filter((name) => name !== 'yolo') // a typo must not lead there
  const word = typed.slice(2)
  const opposite = names.find((name) => name === `no-${word}`)
  const near = typed.startsWith('--') ? (opposite ?? nearest(word, names)) : undefined
  const help = `see ${program} ${command.path.join(' ')} --help`
  const hint = command.instead?.[typed] ?? (near ? `did you mean --${near}?` : help)
  return new CrabError('usage', `Unknown option ${typed}`, { hint })
}
