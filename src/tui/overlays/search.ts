import { findRanges, toPieces } from '../search/pieces.ts'
import {
  type ChatSearchScope,
  SEARCH_SCOPES,
  type SearchResult,
  type SearchResults,
} from '../search/types.ts'
import type { ChatEffect, KeyResult } from '../state/effects.ts'
import type { KeyPress } from '../text/key.ts'
import { toChord } from '../text/keymap.ts'
import type { Room } from '../view/view.ts'
import { moveSelection } from './frame.ts'
import { typeIntoLine } from './type-into-line.ts'
import type { Overlay, Search } from './types.ts'

/** A search for these words, with nothing found yet but in what was sent. */
export function newSearch({
  scope,
  query,
  ...parts
}: Pick<Search, 'scope' | 'query' | 'agent' | 'sent'>): Search {
  const nothing: SearchResults = { scope: 'prompts', query: '', items: [], note: '' }
  return changed({ kind: 'search', ...parts, scope, query, results: nothing, selected: 0 }, { scope, query })
}

/** Whether it shows what was found for its words, where it searches. */
export function isFresh({ scope, query, results: found }: Search): boolean {
  return found.scope === scope && found.query === query
}

/**
 * The search with what was found; what comes too late for its words changes nothing. What is selected stays selected
 * where there is more for the same words.
 */
export function withResults(search: Search, found: SearchResults): Search {
  if (found.scope !== search.scope || found.query !== search.query) return search
  const chosen = isFresh(search) ? search.results.items[search.selected]?.value : undefined
  const selected = found.items.findIndex(({ value }) => value === chosen)
  return { ...search, results: found, selected: Math.max(0, selected) }
}

/**
 * What a key does to a search: typing changes its words, Tab and the arrows where it searches, Enter takes what is
 * selected, once it was found for these words; Esc closes it.
 */
export function pressSearch(search: Search, key: KeyPress, room: Room): KeyResult<Overlay | undefined> {
  const chord = toChord(key)
  if (chord === 'escape' || chord === 'ctrl+g') return { state: undefined, effects: [] }
  if (chord === 'enter') return take(search)
  const by = TURNS[chord]
  if (by !== undefined) return looked(changed(search, { scope: nextScope(search.scope, by) }), false)
  const { length } = isCurrentResult(search) ? search.results.items : []
  const selected = moveSelection(search.selected, length, STEPS[chord] ?? key, room)
  if (selected !== undefined) return { state: { ...search, selected: Math.max(0, selected) }, effects: [] }
  const query = typeIntoLine(search.query, key).slice(0, MOST_CHARS)
  if (query === search.query) return { state: search, effects: [] }
  return looked(changed(search, { query }), true)
}

/** The scope that Tab, or Shift+Tab, leads to. */
export function nextScope(scope: ChatSearchScope, by: 1 | -1): ChatSearchScope {
  const { length } = SEARCH_SCOPES
  return SEARCH_SCOPES[(SEARCH_SCOPES.indexOf(scope) + by + length) % length]!
}

/** Whether what was found belongs where it searches now; it may be for words that were typed a moment ago. */
export function isCurrentResult({ scope, results: found }: Search): boolean {
  return found.scope === scope
}

/** What choosing it asks for; for a conversation with a word that was found in what was said there. */
export function takeResult({ scope }: Pick<Search, 'scope'>, { value, excerpts }: SearchResult): ChatEffect {
  if (scope === 'prompts') return { type: 'insert', text: value }
  if (scope === 'memory') return { type: 'chosen', picker: 'memory', value }
  const word = excerpts[0]?.pieces.find(({ isMatch }) => isMatch)?.text
  return { type: 'chosen', picker: 'session', value, ...(word !== undefined && { key: word }) }
}

/** Longer words are nobody's. */
const MOST_CHARS = 1_000

const TURNS: Readonly<Record<string, 1 | -1>> = { tab: 1, right: 1, 'shift+tab': -1, left: -1 }

const PLAIN = { text: '', ctrl: false, alt: false, shift: false } as const
const STEPS: Readonly<Record<string, KeyPress>> = {
  'ctrl+r': { ...PLAIN, name: 'down' },
  'ctrl+s': { ...PLAIN, name: 'up' },
}

/** Of several keys typed ahead, Enter is for what its words find, not for what stood there before. */
function take(search: Search): KeyResult<Overlay | undefined> {
  if (!isFresh(search)) return looked(search, false)
  const chosen = search.results.items[search.selected]
  if (!chosen) return { state: search, effects: [] }
  const effects = [takeResult(search, chosen)]
  return { state: search.scope === 'memory' ? search : undefined, effects }
}

/** What was sent is here already. */
function changed(search: Search, change: Partial<Pick<Search, 'scope' | 'query'>>): Search {
  const next = { ...search, ...change, selected: 0 }
  return next.scope === 'prompts' ? { ...next, results: findSent(next) } : next
}

function looked(search: Search, isTyped: boolean): KeyResult<Search> {
  const effects: ChatEffect[] = isFresh(search) ? [] : [{ type: 'search', isTyped }]
  return { state: search, effects }
}

/** Texts that hold the words as they are typed, in upper or lower case. */
function findSent({ sent, query }: Search): SearchResults {
  const wanted = query.toLowerCase()
  const found = sent.filter((text) => text.toLowerCase().includes(wanted))
  const items = found.map((value) => ({
    value,
    title: toPieces(value, findRanges(value, query)),
    detail: '',
    excerpts: [],
  }))
  return { scope: 'prompts', query, items, note: '' }
}
