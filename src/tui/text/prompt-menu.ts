import { settle } from './editor.ts'
import type { KeyPress } from './key.ts'
import { toChord } from './key-command.ts'
import { findCommands, type Menu, type MenuEntry, type Token, takeEntry, tokenAt } from './menu.ts'
import type { Prompt, PromptContext } from './prompt-state.ts'

/** The result of a key that the menu has handled. */
export interface MenuPress {
  prompt: Prompt
  /** Whether the prompt is sent as it is now. */
  isSent: boolean
}

/** Handles a key while a menu is open; undefined when the menu does not use the key. */
export function pressMenu(prompt: Prompt, key: KeyPress): MenuPress | undefined {
  const { menu } = prompt
  const token = tokenAt(prompt)
  if (menu === undefined || token === undefined) return undefined
  switch (toChord(key)) {
    case 'up':
    case 'ctrl+p':
      return toMenuPress(select(prompt, menu, -1))
    case 'down':
    case 'ctrl+n':
      return toMenuPress(select(prompt, menu, 1))
    case 'tab':
      return toMenuPress(take(prompt, token, toTake(menu, token)))
    case 'enter':
      return enter(prompt, token, menu.entries[menu.selected]!)
    default:
      return undefined
  }
}

/** Whether a menu is open for the word at the caret. */
export function hasOpenMenu(prompt: Prompt): boolean {
  return prompt.menu !== undefined && tokenAt(prompt) !== undefined
}

/** Closes the menu until the caret is at another word. */
export function closeMenu(prompt: Prompt): Prompt {
  return { ...settle(prompt), menu: undefined, closedAt: tokenAt(prompt)?.start }
}

/** Updates the menu to the word at the caret. `query` is set when files must be looked up. */
export function followMenu(
  prompt: Prompt,
  { commands = [] }: PromptContext,
): { prompt: Prompt; query: string | undefined } {
  const token = tokenAt(prompt)
  if (token === undefined)
    return { prompt: { ...prompt, menu: undefined, closedAt: undefined }, query: undefined }
  if (token.start === prompt.closedAt) return { prompt: { ...prompt, menu: undefined }, query: undefined }
  const { menu } = prompt
  if (menu?.kind === token.kind && menu.query === token.query) return { prompt, query: undefined }
  if (token.kind === 'command') {
    const entries = findCommands(commands, token.query)
    return { prompt: withMenu(prompt, token, entries), query: undefined }
  }
  return { prompt: withMenu(prompt, token, filterEntries(menu, token)), query: token.query }
}

function withMenu(prompt: Prompt, { kind, query }: Token, entries: readonly MenuEntry[]): Prompt {
  const menu = entries.length === 0 ? undefined : { kind, query, entries, selected: 0 }
  return { ...prompt, menu, closedAt: undefined }
}

/** Returns the entries to show until the files are found: those of the old menu that contain the query. */
function filterEntries(menu: Menu | undefined, { query }: Token): readonly MenuEntry[] {
  if (menu?.kind !== 'file') return []
  const needle = query.toLowerCase()
  return menu.entries.filter(({ value }) => value.toLowerCase().includes(needle))
}

function select(prompt: Prompt, menu: Menu, by: -1 | 1): Prompt {
  const { length } = menu.entries
  return { ...settle(prompt), menu: { ...menu, selected: (menu.selected + by + length) % length } }
}

/**
 * Takes an entry on Enter: a command without required arguments runs, and a path that is already typed
 * completely sends the prompt. So does a word that no name of a command has, unless the user has moved the selection.
 */
function enter(prompt: Prompt, token: Token, entry: MenuEntry): MenuPress {
  const isFirst = prompt.menu?.selected === 0
  const isTyped = (token.kind === 'file' && token.query === entry.value) || (entry.isBySummary && isFirst)
  if (isTyped) return { prompt: { ...prompt, menu: undefined }, isSent: true }
  return { prompt: take(prompt, token, entry), isSent: entry.isWhole }
}

/** Returns the entry that Tab takes: for a folder that is already typed, the next one, which is inside it. */
function toTake({ entries, selected }: Menu, { query }: Token): MenuEntry {
  const entry = entries[selected]!
  return entry.value === query && query.endsWith('/') ? (entries[selected + 1] ?? entry) : entry
}

function take(prompt: Prompt, token: Token, entry: MenuEntry): Prompt {
  return { ...takeEntry(prompt, token, entry), menu: undefined }
}

function toMenuPress(prompt: Prompt): MenuPress {
  return { prompt, isSent: false }
}
