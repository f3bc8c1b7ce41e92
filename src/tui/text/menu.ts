import type { Editor } from './editor.ts'
import { replaceRange } from './editor.ts'

/** Suggestions for what stands before the caret. */
export interface Menu {
  kind: 'command' | 'file'
  /** What they were asked for. */
  query: string
  entries: readonly MenuEntry[]
  selected: number
}

export interface MenuEntry {
  /** What is put in: the name of a command without `/`, or a path. */
  value: string
  label: string
  /** Beside the label, dim. */
  detail: string
  /** A command that can run as it is. */
  isWhole: boolean
}

/** A slash command as the menu shows it. */
export interface CommandEntry {
  /** Without `/`. */
  name: string
  aliases?: readonly string[]
  /** As in `[NAME]`; empty for none. */
  args: string
  summary: string
}

/** A word before the caret that can be completed. */
export interface Token {
  kind: 'command' | 'file'
  /** Of its `/` or `@`. */
  start: number
  /** Of the word that the caret is in. */
  end: number
  query: string
}

/** The word at the caret: a command at the text's start, or a path behind `@`. */
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

/** Commands whose name begins with the query, then those that hold it. */
export function findCommands(commands: readonly CommandEntry[], query: string): MenuEntry[] {
  const wanted = query.toLowerCase()
  const ranked = commands.map((command) => ({ command, rank: rankCommand(command, wanted) }))
  return ranked
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ command: { name, args, summary } }) => ({
      value: name,
      label: args === '' ? `/${name}` : `/${name} ${args}`,
      detail: summary,
      isWhole: args === '' || args.startsWith('['),
    }))
}

/** An entry in the place of its token; a folder stays open for what is in it. */
export function takeEntry<E extends Editor>(editor: E, token: Token, entry: MenuEntry): E {
  const isFolder = token.kind === 'file' && entry.value.endsWith('/')
  const word = token.kind === 'command' ? `/${entry.value}` : toMention(entry.value)
  const hasBlank = editor.text.startsWith(' ', token.end)
  const space = isFolder || hasBlank ? '' : ' '
  const taken = replaceRange(editor, token.start, token.end, word + space)
  return hasBlank && !isFolder ? { ...taken, caret: taken.caret + 1 } : taken
}

/** A path as a message names it; a folder with a blank in its name stays open. */
export function toMention(path: string): string {
  if (!/[\s"]/.test(path)) return `@${path}`
  return path.endsWith('/') ? `@"${path}` : `@"${path}"`
}

/** What is left of a word behind the caret. */
function getWordRest(text: string, caret: number, isQuoted: boolean): string {
  const rest = text.slice(caret)
  return (isQuoted ? /^[^"\n]*"/.exec(rest)?.[0] : /^[^\s"]*/.exec(rest)?.[0]) ?? ''
}

function rankCommand({ name, aliases = [] }: CommandEntry, wanted: string): number {
  if (name === wanted) return 0
  if (name.toLowerCase().startsWith(wanted)) return 1
  if (aliases.some((alias) => alias.toLowerCase().startsWith(wanted))) return 2
  return name.toLowerCase().includes(wanted) ? 3 : Number.POSITIVE_INFINITY
}
