import type { Editor } from './editor.ts'
import { replaceRange } from './editor.ts'

/** The suggestions for the word before the caret. */
export interface Menu {
  kind: 'command' | 'file'
  /** The query they were found for. */
  query: string
  entries: readonly MenuEntry[]
  selected: number
}

/** A suggestion of the menu. */
export interface MenuEntry {
  /** The inserted text: the name of a command without `/`, or a path. */
  value: string
  label: string
  /** Shown beside the label, dim. */
  detail: string
  /** Whether the command can run without arguments. */
  isWhole: boolean
  /** Whether only its summary has the query: the typed word may be the name of a skill. */
  isBySummary?: boolean
}

/** A slash command as the menu shows it. */
export interface CommandEntry {
  /** The name without `/`. */
  name: string
  aliases?: readonly string[]
  /** The arguments, such as `[NAME]`; empty for none. */
  args: string
  summary: string
  /** Whether a skill of the same name takes its place. */
  yieldsToSkill?: boolean
}

/** A word before the caret that can be completed. */
export interface Token {
  kind: 'command' | 'file'
  /** The offset of its `/` or `@`. */
  start: number
  /** The end of the word around the caret. */
  end: number
  query: string
}

/**
 * Returns the word at the caret if it can be completed: a command at the start of the text, or a path after
 * `@`.
 */
export function tokenAt({ text, caret }: Pick<Editor, 'text' | 'caret'>): Token | undefined {
  const before = text.slice(0, caret)
  if (/^\/(?:[^\s/]*|[a-z0-9][a-z0-9_-]{0,31}:\S*)$/.test(before)) {
    const end = caret + getWordRest(text, caret, false).length
    return { kind: 'command', start: 0, end, query: before.slice(1) }
  }
  if (text.startsWith('!')) return undefined
  const found = before.match(/(?<=^|[\s(])@(?:"([^"\n]*)|([^\s"]*))$/)
  if (!found) return undefined
  const isQuoted = found[1] !== undefined
  const end = caret + getWordRest(text, caret, isQuoted).length
  return { kind: 'file', start: found.index!, end, query: found[1] ?? found[2] ?? '' }
}

/** Finds commands whose name starts with the query, then those whose name contains it, then those about it. */
export function findCommands(commands: readonly CommandEntry[], query: string): MenuEntry[] {
  const needle = query.toLowerCase()
  const ranked = commands.map((command) => ({ command, rank: rankCommand(command, needle) }))
  return ranked
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ command: { name, args, summary }, rank }) => ({
      value: name,
      label: args === '' ? `/${name}` : `/${name} ${args}`,
      detail: summary,
      isWhole: args === '' || args.startsWith('['),
      ...(rank === BY_SUMMARY && { isBySummary: true }),
    }))
}

/** Replaces a token with an entry. After a folder no space is added, so that its content can be completed. */
export function takeEntry<E extends Editor>(editor: E, token: Token, entry: MenuEntry): E {
  const isFolder = token.kind === 'file' && entry.value.endsWith('/')
  const word = token.kind === 'command' ? `/${entry.value}` : toMention(entry.value)
  const hasBlank = editor.text.startsWith(' ', token.end)
  const space = isFolder || hasBlank ? '' : ' '
  const taken = replaceRange(editor, token.start, token.end, word + space)
  return hasBlank && !isFolder ? { ...taken, caret: taken.caret + 1 } : taken
}

/**
 * Formats a path as a mention. A quoted folder stays without its closing quote, so that the path can
 * continue.
 */
export function toMention(path: string): string {
  if (!/[\s"]/.test(path)) return `@${path}`
  return path.endsWith('/') ? `@"${path}` : `@"${path}"`
}

/** Returns the rest of a word after the caret. */
function getWordRest(text: string, caret: number, isQuoted: boolean): string {
  const rest = text.slice(caret)
  return (isQuoted ? /^[^"\n]*"/.exec(rest)?.[0] : /^[^\s"]*/.exec(rest)?.[0]) ?? ''
}

function rankCommand({ name, aliases = [], summary }: CommandEntry, needle: string): number {
  if (name === needle) return 0
  if (name.toLowerCase().startsWith(needle)) return 1
  if (aliases.some((alias) => alias.toLowerCase().startsWith(needle))) return 2
  if (name.toLowerCase().includes(needle)) return 3
  const isAbout = needle.length >= MIN_QUERY && words(summary).some((word) => word.startsWith(needle))
  return isAbout ? BY_SUMMARY : Number.POSITIVE_INFINITY
}

/** The rank of a command of which only the summary has the query. */
const BY_SUMMARY = 4
/** The length from which a query is looked up in summaries. */
const MIN_QUERY = 3

function words(text: string): string[] {
  return text.toLowerCase().split(/[^\p{L}\d]+/u)
}
