import type { Command, CommandOption, WordKind } from '../../cli/command.ts'
import { GROUP_SUMMARIES, listOptions } from '../../cli/sections.ts'
import { COMPLETION_SHELLS } from './shells.ts'

/** A candidate for a word, with its description. */
export interface WordCompletion {
  value: string
  description: string
}

/**
 * The kinds that the program must list itself; the shell completes files, and everything else is in the
 * command table.
 */
export type ListedKind = Exclude<WordKind, 'file' | 'folder' | 'shell'>

/** The completions of a word. */
export type Suggestion =
  | { from: 'words'; candidates: readonly WordCompletion[] }
  | { from: 'paths'; only: 'files' | 'folders' }
  /** `prefix` precedes the value within the word; `agent` is the one named earlier on the line. */
  | { from: 'list'; kind: ListedKind; prefix: string; agent: string | undefined }

/** Returns the completions of the last word of a command line; `words` are those after the program's name. */
export function suggest(commands: readonly Command[], words: readonly string[]): Suggestion {
  const shown = commands.filter(({ hidden }) => !hidden)
  const before = words.slice(0, -1)
  const isHelp = before[0] === 'help'
  const named = isHelp ? before.slice(1) : before
  const command = shown.find(({ path }) => path.every((word, index) => named[index] === word))
  if (command === undefined) return toSuggestion(suggestCommandWords(shown, named, before.length === 0))
  if (isHelp) return NOTHING
  const verbs = named.length === command.path.length ? suggestCommandWords(shown, named, false) : []
  if (verbs.length > 0 && !words.at(-1)?.startsWith('-')) return toSuggestion(verbs)
  return suggestArgument(command, { before: named.slice(command.path.length), current: words.at(-1) ?? '' })
}

/** Returns the words that follow `named` in the names of commands. */
function suggestCommandWords(
  commands: readonly Command[],
  named: readonly string[],
  isFirst: boolean,
): WordCompletion[] {
  const found = new Map<string, string>()
  for (const { path, summary } of commands) {
    if (path.length <= named.length || !named.every((word, index) => path[index] === word)) continue
    const word = path[named.length]!
    found.set(word, path.length === named.length + 1 ? summary : (GROUP_SUMMARIES[word] ?? ''))
  }
  if (isFirst) found.set('help', 'Explain a command')
  return [...found].map(([value, description]) => ({ value, description }))
}

function suggestArgument(
  command: Command,
  { before, current }: { before: readonly string[]; current: string },
): Suggestion {
  const options = listOptions(command)
  const seen = parseWords({ ...command, options }, before)
  if (seen.isForeign) return { from: 'paths', only: 'files' }
  if (seen.open) return suggestValues(seen.open, { prefix: '', current }, seen)
  if (!seen.isLiteral && current.startsWith('-')) return suggestOptions(options, current, seen)
  if (seen.count === command.rawFrom) return { from: 'paths', only: 'files' }
  const kind = findArgumentKind(command, seen.count)
  if (kind !== undefined) return suggestKind(kind, '', seen)
  return current === '' && !seen.isLiteral ? suggestOptions(options, current, seen) : NOTHING
}

/** The state of the command line before the word to complete. */
interface ParsedLine {
  /** The number of arguments so far. */
  count: number
  /** Whether `--` came before. */
  isLiteral: boolean
  /** Whether the words belong to another program. */
  isForeign: boolean
  values: ReadonlyMap<string, string>
  /** The option whose value comes next. */
  open: CommandOption | undefined
}

function parseWords(
  { options, rawFrom = Number.POSITIVE_INFINITY }: Command,
  words: readonly string[],
): ParsedLine {
  const values = new Map<string, string>()
  let [count, isLiteral] = [0, false]
  let open: CommandOption | undefined
  for (const word of words) {
    if (open) {
      values.set(open.name, word)
      open = undefined
    } else if (isLiteral || word === '-' || !word.startsWith('-')) count++
    else if (word === '--') isLiteral = true
    else open = readFlags(options, word, values)
    if (count > rawFrom && !open) isLiteral = true
  }
  return { count, isLiteral, isForeign: count > rawFrom, values, open }
}

/**
 * Records the options in `--name`, `--name=value` or `-abc`, and returns an option that still needs its
 * value.
 */
function readFlags(
  options: readonly CommandOption[],
  word: string,
  values: Map<string, string>,
): CommandOption | undefined {
  if (word.startsWith('--')) {
    const [, name, value] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? []
    const option = options.find((one) => one.name === name)
    if (option?.value !== undefined && value === undefined) return option
    if (option) values.set(option.name, value ?? '')
    return undefined
  }
  for (let index = 1; index < word.length; index++) {
    const option = options.find(({ short }) => short === word[index])
    if (option?.value !== undefined && index === word.length - 1) return option
    if (option) values.set(option.name, word.slice(index + 1))
    if (option?.value !== undefined) return undefined
  }
  return undefined
}

function suggestOptions(options: readonly CommandOption[], current: string, seen: ParsedLine): Suggestion {
  const [, prefix, name] = /^(--([^=]+)=)/.exec(current) ?? []
  const option = options.find((one) => one.name === name)
  if (prefix !== undefined)
    return option?.value === undefined ? NOTHING : suggestValues(option, { prefix, current }, seen)
  const left = options.filter((one) => !seen.values.has(one.name) || /-vv|\(repeatable\)/.test(one.summary))
  return toSuggestion(left.map((one) => ({ value: `--${one.name}`, description: one.summary })))
}

function suggestValues(
  { choices, kind, known = [] }: CommandOption,
  { prefix, current }: { prefix: string; current: string },
  seen: ParsedLine,
): Suggestion {
  const words = known.map((value) => ({ value: prefix + value, description: '' }))
  if (words.some(({ value }) => value.startsWith(current))) return toSuggestion(words)
  if (choices) return toSuggestion(choices.map((value) => ({ value: prefix + value, description: '' })))
  return kind === undefined ? NOTHING : suggestKind(kind, prefix, seen)
}

function suggestKind(kind: WordKind, prefix: string, { values }: ParsedLine): Suggestion {
  if (kind === 'file') return { from: 'paths', only: 'files' }
  if (kind === 'folder') return { from: 'paths', only: 'folders' }
  if (kind === 'shell') return toSuggestion(COMPLETION_SHELLS.map((value) => ({ value, description: '' })))
  return { from: 'list', kind, prefix, agent: values.get('agent') }
}

/**
 * Returns the kind of the argument at this index; undefined when it is unknown, or there is no such argument.
 */
function findArgumentKind({ args, kinds = [] }: Command, count: number): WordKind | undefined {
  const places = args.split(' ').filter(Boolean)
  const isMany = places.at(-1)?.includes('...') ?? false
  if (count < places.length) return kinds[count]
  return isMany && kinds.length === places.length ? kinds.at(-1) : undefined
}

function toSuggestion(candidates: readonly WordCompletion[]): Suggestion {
  return { from: 'words', candidates }
}

const NOTHING: Suggestion = { from: 'words', candidates: [] }
