import { cac } from 'cac'
import { CrabError } from '../core/base/errors.ts'
import { nearest } from '../core/config/nearest.ts'
import type { Command, Option } from './command.ts'

/** A parsed command line. Values are the strings the person typed, never numbers or booleans made of them. */
export interface Options {
  readonly args: readonly string[]
  /** Whether a flag was given. */
  has(name: string): boolean
  /** How often a flag was given. */
  count(name: string): number
  /** The last value given; undefined when there was none. */
  value(name: string): string | undefined
  /** Every value given, in order. */
  values(name: string): readonly string[]
}

/** Parses what stands behind a command's name. Throws `usage` naming the nearest flag. */
export function parseOptions(command: Command, argv: readonly string[]): Options {
  const given = readRaw(command, argv)
  validate(command, argv)
  return {
    args: given.args,
    has: (name) => given.flags.has(name),
    count: (name) => given.flags.get(name)?.length ?? 0,
    value: (name) => given.flags.get(name)?.at(-1),
    values: (name) => given.flags.get(name) ?? [],
  }
}

interface Given {
  args: string[]
  flags: Map<string, string[]>
}

/** Reads raw argv by the command's options: cac would turn `007` into 7 and swallow a lone `-`. */
function readRaw(command: Command, argv: readonly string[]): Given {
  const given: Given = { args: [], flags: new Map() }
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!
    if (word === '--') {
      given.args.push(...argv.slice(at + 1))
      break
    }
    if (word === '-' || !word.startsWith('-')) given.args.push(word)
    else if (readFlag({ command, given, word, next: argv[at + 1] })) at++
  }
  return given
}

/** Takes one `--name`, `--name=value` or `-abc`; says whether the next word was its value. */
function readFlag(at: { command: Command; given: Given; word: string; next: string | undefined }): boolean {
  const { command, given, word, next } = at
  const [name, inline] = splitOnce(word.replace(/^--?/, ''))
  const names = word.startsWith('--') ? [name] : [...name]
  for (const short of names.slice(0, -1)) add(given, optionOf(command, short), '')
  const option = optionOf(command, names.at(-1) ?? '')
  if (!option?.value) {
    add(given, option, inline ?? '')
    return false
  }
  if (inline !== undefined) add(given, option, inline)
  else if (next !== undefined && (next === '-' || !next.startsWith('-'))) add(given, option, next)
  else
    throw new CrabError('usage', `Option --${option.name} needs a value`, {
      hint: `for example --${option.name} ${option.value}`,
    })
  return inline === undefined
}

function add(given: Given, option: Option | undefined, value: string): void {
  if (!option) return // validate() names it
  const values = given.flags.get(option.name)
  if (values) values.push(value)
  else given.flags.set(option.name, [value])
}

function optionOf(command: Command, name: string): Option | undefined {
  return command.options.find((option) => option.name === name || option.short === name)
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.indexOf('=')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** Lets cac judge the shape of the line: unknown flags, missing and superfluous arguments. */
function validate(command: Command, argv: readonly string[]): void {
  const cli = cac(command.path.join(' '))
  const leaf = cli.command(command.args, command.summary)
  for (const option of command.options) leaf.option(toCacFlags(option), option.summary)
  cli.parse(['', '', ...argv.map(harmless)], { run: false })
  const unknown = Object.keys(cli.options).find((name) => name !== '--' && !leaf.hasOption(name))
  if (unknown !== undefined) throw unknownOption(command, argv, unknown)
  try {
    leaf.checkRequiredArgs()
    leaf.checkUnusedArgs()
  } catch (cause) {
    const usage = ['crabtalk', ...command.path, command.args].join(' ').trim()
    throw new CrabError('usage', `Cannot use these arguments: ${(cause as Error).message}`, {
      cause,
      hint: `usage: ${usage}`,
    })
  }
}

/** A lone `-` is an argument to us and a flag without a name to cac. */
function harmless(word: string): string {
  return word === '-' ? 'stdin' : word
}

function toCacFlags({ name, short, value }: Option): string {
  const flags = short ? `-${short}, --${name}` : `--${name}`
  return value ? `${flags} <value>` : flags
}

function unknownOption(command: Command, argv: readonly string[], name: string): CrabError {
  const typed = argv.find(
    (word) =>
      word
        .replace(/^--?(no-)?/, '')
        .split('=')[0]
        ?.replaceAll(/-([a-z])/g, camel) === name,
  )
  const shown = typed?.split('=')[0] ?? (name.length > 1 ? `--${name}` : `-${name}`)
  const near = nearest(
    shown.replace(/^--?/, ''),
    command.options.map((option) => option.name),
  )
  const help = `see crabtalk ${command.path.join(' ')} --help`
  return new CrabError('usage', `Unknown option ${shown}`, { hint: near ? `did you mean --${near}?` : help })
}

function camel(_: string, letter: string): string {
  return letter.toUpperCase()
}
