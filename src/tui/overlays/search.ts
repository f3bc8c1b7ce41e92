import { findRanges, toPieces } from '../search/pieces.ts'
import {
  type ChatSearchScope,
  SEARCH_SCOPES,
  type SearchResult,
  type SearchResults,
} from '../search/types.ts'
import type { ChatEffect, KeyResult } from '../text/effects.ts'
import type { KeyPress } from '../text/key.ts'
import { toChord } from '../text/key-command.ts'
import type { Room } from '../view/view.ts'
import { moveSelection } from './frame.ts'
import { typeIntoLine } from './keys.ts'
import type { Overlay, Search } from './types.ts'

/** Creates a search. Only the `prompts` scope has results immediately. */
export function newSearch({
  scope,
  query,
  ...parts
}: Pick<Search, 'scope' | 'query' | 'agent' | 'sent'>): Search {
  const nothing: SearchResults = { scope: 'prompts', query: '', items: [], note: '' }
  return changed({ kind: 'search', ...parts, scope, query, results: nothing, selected: 0 }, { scope, query })
}

/** Whether the results belong to the current query and scope. */
export function isFresh({ scope, query, results: found }: Search): boolean {
  return found.scope === scope && found.query === query
}

/**
 * Applies results; those for an earlier query or scope are ignored. The selected item stays selected when
 * more results arrive for the same query.
 */
export function withResults(search: Search, found: SearchResults): Search {
  if (found.scope !== search.scope || found.query !== search.query) return search
  const chosen = isFresh(search) ? search.results.items[search.selected]?.value : undefined
  const selected = found.items.findIndex(({ value }) => value === chosen)
  return { ...search, results: found, selected: Math.max(0, selected) }
}

/**
 * Handles a key in a search: text changes the query, Tab and the arrows change the scope, Enter takes the
 * selected result once the results are for this query, Ctrl+G closes the search.
 */
export function pressSearch(search: Search, key: KeyPress, room: Room): KeyResult<Overlay | undefined> {
  const chord = toChord(key)
  if (chord === 'ctrl+g') return { state: undefined, effects: [] }
  if (chord === 'enter') return take(search)
  const by = TURNS[chord]
  if (by !== undefined) return looked(changed(search, { scope: nextScope(search.scope, by) }), false)
  const { length } = isCurrentResult(search) ? search.results.items : []
  const selected = moveSelection(search.selected, length, STEPS[chord] ?? key, room)
  if (selected !== undefined) return { state: { ...search, selected: Math.max(0, selected) }, effects: [] }
  const query = typeIntoLine(search.query, key).slice(0, MAX_CHARS)
  if (query === search.query) return { state: search, effects: [] }
  return looked(changed(search, { query }), true)
}

/** Returns the scope that Tab or Shift+Tab leads to. */
export function nextScope(scope: ChatSearchScope, by: 1 | -1): ChatSearchScope {
  const { length } = SEARCH_SCOPES
  return SEARCH_SCOPES[(SEARCH_SCOPES.indexOf(scope) + by + length) % length]!
}

/** Whether the results belong to the current scope; they may still be for an earlier query. */
export function isCurrentResult({ scope, results: found }: Search): boolean {
  return found.scope === scope
}

/** Returns the effect of choosing a result. For a conversation it includes a word that matched in it. */
export function takeResult({ scope }: Pick<Search, 'scope'>, { value, excerpts }: SearchResult): ChatEffect {
  if (scope === 'prompts') return { type: 'insert', text: value }
  if (scope === 'memory') return { type: 'chosen', picker: 'memory', value }
  const word = excerpts[0]?.pieces.find(({ isMatch }) => isMatch)?.text
  return { type: 'chosen', picker: 'session', value, ...(word !== undefined && { key: word }) }
}

/** Longer queries are cut off. */
const MAX_CHARS = 1_000

const TURNS: Readonly<Record<string, 1 | -1>> = { tab: 1, right: 1, 'shift+tab': -1, left: -1 }

const PLAIN = { text: '', ctrl: false, alt: false, shift: false } as const
const STEPS: Readonly<Record<string, KeyPress>> = {
  'ctrl+r': { ...PLAIN, name: 'down' },
  'ctrl+s': { ...PLAIN, name: 'up' },
}

/**
 * Takes the selected result. When keys are typed ahead, Enter waits for the results of the new query instead
 * of taking an old one.
 */
function take(search: Search): KeyResult<Overlay | undefined> {
  if (!isFresh(search)) return looked(search, false)
  const chosen = search.results.items[search.selected]
  if (!chosen) return { state: search, effects: [] }
  const effects = [takeResult(search, chosen)]
  return { state: search.scope === 'memory' ? search : undefined, effects }
}

/** Changes the query or scope. Sent prompts are in memory, so they are searched immediately. */
function changed(search: Search, change: Partial<Pick<Search, 'scope' | 'query'>>): Search {
  const next = { ...search, ...change, selected: 0 }
  return next.scope === 'prompts' ? { ...next, results: findSent(next) } : next
}

function looked(search: Search, isTyped: boolean): KeyResult<Search> {
  const effects: ChatEffect[] = isFresh(search) ? [] : [{ type: 'search', isTyped }]
  return { state: search, effects }
}

/** Finds sent texts that contain the query, ignoring case. */
function findSent({ sent, query }: Search): SearchResults {
  const needle = query.toLowerCase()
  const found = sent.filter((text) => text.toLowerCase().includes(needle))
  const items = found.map((value) => ({
    value,
    title: toPieces(value, findRanges(value, query)),
    detail: '',
    excerpts: [],
  }))
  return { scope: 'prompts', query, items, note: '' }
}
