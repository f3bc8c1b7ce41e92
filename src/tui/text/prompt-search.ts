import { settle } from './editor.ts'
import { previousBoundary } from './graphemes.ts'
import { searchSent, showSent } from './history.ts'
import type { KeyPress } from './key.ts'
import { toChord } from './keymap.ts'
import { cleanInput } from './pastes.ts'
import type { Taken } from './prompt-menu.ts'
import type { Prompt, Search } from './prompt-state.ts'

/** Begins to search what was sent. */
export function openSearch(prompt: Prompt): Prompt {
  return { ...settle(prompt), menu: undefined, search: find(prompt, '') }
}

/** A key while what was sent is searched: all of them belong to the search. */
export function pressSearch(prompt: Prompt, key: KeyPress): Taken {
  const search = prompt.search!
  const chord = toChord(key)
  if (OLDER.has(chord)) return taken(select(prompt, search, 1))
  if (NEWER.has(chord)) return taken(select(prompt, search, -1))
  if (chord === 'enter' || chord === 'tab') return taken(take(prompt, search))
  if (LEAVING.has(chord)) return taken({ ...prompt, search: undefined })
  if (key.name === 'backspace' || chord === 'ctrl+h') return taken(shorten(prompt, search))
  const typed = key.name === 'paste' || (key.name === 'text' && !key.ctrl && !key.alt) ? key.text : ''
  const text = cleanInput(typed).replaceAll('\n', ' ')
  return taken(text === '' ? prompt : { ...prompt, search: find(prompt, search.query + text) })
}

function find({ history }: Prompt, query: string): Search {
  return { query, found: searchSent(history, query), selected: 0 }
}

function select(prompt: Prompt, search: Search, by: -1 | 1): Prompt {
  const last = Math.max(0, search.found.length - 1)
  const selected = Math.min(last, Math.max(0, search.selected + by))
  return { ...prompt, search: { ...search, selected } }
}

function take(prompt: Prompt, { found, selected }: Search): Prompt {
  const text = found[selected]
  return { ...(text === undefined ? prompt : showSent(prompt, text)), search: undefined }
}

function shorten(prompt: Prompt, { query }: Search): Prompt {
  return { ...prompt, search: find(prompt, query.slice(0, previousBoundary(query, query.length))) }
}

function taken(prompt: Prompt): Taken {
  return { prompt, isSent: false }
}

const OLDER: ReadonlySet<string> = new Set(['ctrl+r', 'down', 'ctrl+n'])
const NEWER: ReadonlySet<string> = new Set(['ctrl+s', 'up', 'ctrl+p'])
const LEAVING: ReadonlySet<string> = new Set(['escape', 'ctrl+c', 'ctrl+g'])
