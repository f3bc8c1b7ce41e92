import type { Command, CommandOption, WordKind } from '../command.ts'
import { GROUP_SUMMARIES, listOptions } from '../sections.ts'
import { COMPLETION_SHELLS } from './shells.ts'

/** One word that fits, and what it means. */
export interface WordCompletion {
  value: string
  description: string
}

/** What the program must list itself: the shell knows files, everything else stands in the table. */
export type ListedKind = Exclude<WordKind, 'file' | 'folder' | 'shell'>

/** What a word may become. */
export type Suggestion =
  | { from: 'words'; candidates: readonly WordCompletion[] }
  | { from: 'paths'; only: 'files' | 'folders' }
  /** `prefix` is what stands before the value within the word; `agent` the one that is named before. */
  | { from: 'list'; kind: ListedKind; prefix: string; agent: string | undefined }

/** What the last word of a command line may become; the words are those behind the program's name. */
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

/** The words that follow these in the names of commands. */
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
  if (seen.open) return suggestValues(seen.open, '', seen)
  if (!seen.isLiteral && current.startsWith('-')) return suggestOptions(options, current, seen)
  if (seen.count === command.rawFrom) return { from: 'paths', only: 'files' }
  const kind = findArgumentKind(command, seen.count)
  if (kind !== undefined) return suggestKind(kind, '', seen)
  return current === '' && !seen.isLiteral ? suggestOptions(options, current, seen) : NOTHING
}

/** What stands before the word in question. */
interface ParsedLine {
  /** Arguments so far. */
  count: number
  /** Behind `--`. */
  isLiteral: boolean
  /** The words belong to another program. */
  isForeign: boolean
  given: ReadonlyMap<string, string>
  /** The option whose value comes next. */
  open: CommandOption | undefined
}

function parseWords(
  { options, rawFrom = Number.POSITIVE_INFINITY }: Command,
  words: readonly string[],
): ParsedLine {
  const given = new Map<string, string>()
  let [count, isLiteral] = [0, false]
  let open: CommandOption | undefined
  for (const word of words) {
    if (open) {
      given.set(open.name, word)
      open = undefined
    } else if (isLiteral || word === '-' || !word.startsWith('-')) count++
    else if (word === '--') isLiteral = true
    else open = readFlags(options, word, given)
    if (count > rawFrom && !open) isLiteral = true
  }
  return { count, isLiteral, isForeign: count > rawFrom, given, open }
}

/** Notes what `--name`, `--name=value` or `-abc` gives; an option that still wants its value is returned. */
function readFlags(
  options: readonly CommandOption[],
  word: string,
  given: Map<string, string>,
): CommandOption | undefined {
  if (word.startsWith('--')) {
    const [, name, value] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? []
    const option = options.find((one) => one.name === name)
    if (option?.value !== undefined && value === undefined) return option
    if (option) given.set(option.name, value ?? '')
    return undefined
  }
  for (let index = 1; index < word.length; index++) {
    const option = options.find(({ short }) => short === word[index])
    if (option?.value !== undefined && index === word.length - 1) return option
    if (option) given.set(option.name, word.slice(index + 1))
    if (option?.value !== undefined) return undefined
  }
  return undefined
}

function suggestOptions(options: readonly CommandOption[], current: string, seen: ParsedLine): Suggestion {
  const [, prefix, name] = /^(--([^=]+)=)/.exec(current) ?? []
  const option = options.find((one) => one.name === name)
  if (prefix !== undefined) return option?.value === undefined ? NOTHING : suggestValues(option, prefix, seen)
  const left = options.filter((one) => !seen.given.has(one.name) || /-vv|\(repeatable\)/.test(one.summary))
  return toSuggestion(left.map((one) => ({ value: `--${one.name}`, description: one.summary })))
}

function suggestValues({ choices, kind }: CommandOption, prefix: string, seen: ParsedLine): Suggestion {
  if (choices) return toSuggestion(choices.map((value) => ({ value: prefix + value, description: '' })))
  return kind === undefined ? NOTHING : suggestKind(kind, prefix, seen)
}

function suggestKind(kind: WordKind, prefix: string, { given }: ParsedLine): Suggestion {
  if (kind === 'file') return { from: 'paths', only: 'files' }
  if (kind === 'folder') return { from: 'paths', only: 'folders' }
  if (kind === 'shell') return toSuggestion(COMPLETION_SHELLS.map((value) => ({ value, description: '' })))
  return { from: 'list', kind, prefix, agent: given.get('agent') }
}

/** What the argument of this number is; undefined when nothing is known of it, or there is no such argument. */
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
