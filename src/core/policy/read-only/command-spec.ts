/**
 * The options and operands with which a command is known to only read. An option that is not listed makes the
 * command unknown.
 */
export interface CommandSpec {
  /** Short options without a value. */
  short?: string
  /** Short options with a value, in the same word or the next one. */
  valued?: string
  /** Short options with an optional value in the same word. */
  attached?: string
  /** Long options without a value, separated by spaces. */
  long?: string
  /** Long options with a value, after `=` or in the next word. */
  longValued?: string
  /** Long options with an optional value after `=`. */
  longAttached?: string
  /** Whether `-5` is an option. */
  hasDigits?: boolean
}

/** The options and operands of a command. */
export interface ParsedArguments {
  /** The options, without values: `-r`, `--stat`. */
  options: ReadonlySet<string>
  operands: readonly string[]
  /**
   * The operands and every word after the first of them: programs that expect options first treat all of
   * these as operands.
   */
  words: readonly string[]
}

/**
 * Separates options and operands like getopt_long(), except for abbreviations, which are unknown.
 *
 * Options after operands are recognized, too. BSD programs treat such an option and its value as files.
 * Returns undefined for an option that the spec does not list.
 */
export function parseCommandOptions(args: readonly string[], spec: CommandSpec): ParsedArguments | undefined {
  const options = new Set<string>()
  const operands: string[] = []
  let first = args.length
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    const isEnd = arg === '--'
    if (isEnd || arg === '-' || !arg.startsWith('-')) {
      operands.push(...(isEnd ? args.slice(i + 1) : [arg]))
      first = Math.min(first, isEnd ? i + 1 : i)
      if (isEnd) break
      continue
    }
    const count = arg.startsWith('--') ? readLong(arg, spec, options) : readCluster(arg, spec, options)
    if (count === undefined || i + count > args.length) return undefined
    i += count - 1
  }
  return { options, operands, words: args.slice(first) }
}

/** Returns the number of words that a long option takes; undefined when it is unknown. */
function readLong(arg: string, spec: CommandSpec, options: Set<string>): number | undefined {
  const [, name = '', value] = /^--([a-z0-9-]+)(=[\s\S]*)?$/.exec(arg) ?? []
  options.add(`--${name}`)
  if (includesWord(spec.longValued, name)) return value === undefined ? 2 : 1
  if (includesWord(spec.longAttached, name)) return 1
  return value === undefined && includesWord(spec.long, name) ? 1 : undefined
}

/** Returns the number of words that a cluster of short options takes; undefined when one of them is unknown. */
function readCluster(arg: string, spec: CommandSpec, options: Set<string>): number | undefined {
  if (spec.hasDigits && /^-\d+$/.test(arg)) return 1
  for (let i = 1; i < arg.length; i++) {
    const letter = arg[i]!
    options.add(`-${letter}`)
    if (spec.attached?.includes(letter)) return 1
    if (spec.valued?.includes(letter)) return i === arg.length - 1 ? 2 : 1
    if (!spec.short?.includes(letter)) return undefined
  }
  return 1
}

function includesWord(words = '', name: string): boolean {
  return name !== '' && ` ${words} `.includes(` ${name} `)
}
