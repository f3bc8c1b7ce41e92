import { type Piece, SEARCH_SCOPES, type SearchExcerpt, type SearchResult } from '../search/types.ts'
import { cleanLine } from '../view/clean.ts'
import { fitEnd } from '../view/prompt-menu.ts'
import type { Section } from '../view/section.ts'
import { paint, type TextStyle } from '../view/style.ts'
import { measureWidth, truncateText, wrapLines } from '../view/text.ts'
import type { Face } from '../view/view.ts'
import { bodyHeight, frame } from './frame.ts'
import { isCurrentResult, isFresh, nextScope } from './search.ts'
import type { Search } from './types.ts'

/** Terminals with at most this many rows have no space for tabs and excerpts. */
const ROOMY = 12
/** The rows of an excerpt of the selected result, and of other results. */
const SELECTED_ROWS = 3
const OTHER_ROWS = 1
/** Narrower terminals show no details beside a title. */
const MIN_DETAILED_WIDTH = 60
const MARGIN = 2
const INDENT = 4

/**
 * Renders the search, with the caret after the query, and as many results with excerpts as fit around the
 * selected one.
 */
export function renderSearch(search: Search, view: Face): Section {
  const { columns, rows, color } = view
  const { line, caret } = titleLine(search, view)
  const tabs = rows > ROOMY ? [tabsLine(search, color)] : []
  const words = searchNote(search)
  const note = words === '' ? [] : [paint(truncateText(`  ${cleanLine(words)}`, columns), color, 'dim')]
  const room = Math.max(1, bodyHeight(rows) - tabs.length - note.length)
  const body = [...tabs, ...itemRows(search, room, view), ...note]
  return frame({ title: line, body, keys: describeKeys(search), caret }, view)
}

/** Returns the title of a search, which names its scope. */
export function scopeTitle({ scope, agent }: Pick<Search, 'scope' | 'agent'>): string {
  return { prompts: 'Sent', conversations: 'Conversations', memory: `Memory of ${cleanLine(agent)}` }[scope]
}

/** Cleans the pieces of a result, each on its own, for display on one line. */
export function cleanPieces(pieces: readonly Piece[]): Piece[] {
  return pieces.map(({ text, isMatch }) => ({ text: cleanLine(text), isMatch }))
}

/** Explains an empty result, or returns the note of the results; empty when there is nothing to say. */
export function searchNote(search: Search): string {
  const { scope, query, results: found, agent } = search
  if (isFresh(search) && found.note !== '') return found.note
  if (isCurrentResult(search) && found.items.length > 0) return ''
  if (!isFresh(search)) return 'searching…'
  const isEmpty = query.trim() === ''
  switch (scope) {
    case 'prompts':
      return isEmpty ? 'no messages sent yet' : 'no sent message contains this'
    case 'conversations':
      return isEmpty ? 'no conversations yet' : 'no match; only whole words are found'
    case 'memory':
      return isEmpty
        ? `${agent} has no memory entries yet; begin a message with # to save one`
        : 'no memory entry contains any of these words'
  }
}

function titleLine(search: Search, { columns, color }: Face): { line: string; caret: number } {
  const lead = truncateText(`${scopeTitle(search)}: `, Math.max(1, Math.floor(columns / 2)))
  const { items } = search.results
  const count = isFresh(search) && items.length > 0 ? `${items.length}` : ''
  const room = Math.max(0, columns - measureWidth(lead) - count.length - 2)
  const words = fitEnd(cleanLine(search.query), room)
  const gap = Math.max(1, columns - measureWidth(lead + words) - count.length)
  const line = paint(lead, color, 'accent', 'bold') + words + ' '.repeat(gap) + paint(count, color, 'dim')
  return { line: line.trimEnd(), caret: measureWidth(lead + words) }
}

/** Renders the scopes with the current one marked. */
function tabsLine({ scope }: Search, color: boolean): string {
  const tabs = SEARCH_SCOPES.map((one) =>
    one === scope ? paint(`[${TABS[one]}]`, color, 'accent') : paint(` ${TABS[one]} `, color, 'dim'),
  )
  return ` ${tabs.join('')}`
}

const TABS = { prompts: 'sent', conversations: 'conversations', memory: 'memory' } as const
const TAKES = { prompts: 'inserts it', conversations: 'opens it', memory: 'shows it' } as const

function describeKeys({ scope }: Search): string {
  return `Enter ${TAKES[scope]} · Tab ${TABS[nextScope(scope, 1)]} · ↑ ↓ · Esc closes`
}

/** Renders as many items as fit around the selected one. */
function itemRows(search: Search, room: number, view: Face): string[] {
  const items = isCurrentResult(search) ? search.results.items : []
  const rowsAt = (at: number) => renderItem(items[at]!, at === search.selected, view)
  if (items.length === 0) return []
  let [start, end] = [search.selected, search.selected + 1]
  let rows = rowsAt(search.selected).slice(0, room)
  for (let hasGrown = true; hasGrown; ) {
    hasGrown = false
    const after = end < items.length ? rowsAt(end) : undefined
    if (after && rows.length + after.length <= room) {
      rows = [...rows, ...after]
      end++
      hasGrown = true
    }
    const before = start > 0 ? rowsAt(start - 1) : undefined
    if (before && rows.length + before.length <= room) {
      rows = [...before, ...rows]
      start--
      hasGrown = true
    }
  }
  return rows
}

function renderItem({ title, detail, excerpts }: SearchResult, isSelected: boolean, view: Face): string[] {
  const { columns, color } = view
  const about = columns >= MIN_DETAILED_WIDTH ? truncateText(cleanLine(detail), Math.floor(columns / 2)) : ''
  const room = columns - MARGIN - (about === '' ? 0 : measureWidth(about) + 2)
  const styles: TextStyle[] = isSelected ? ['accent', 'bold'] : []
  const name = fitPieces(cleanPieces(title), { columns: room, rows: 1, color, styles })[0] ?? ''
  const mark = isSelected ? paint('› ', color, 'accent') : '  '
  const head = `${mark}${name}${about === '' ? '' : `  ${paint(about, color, 'dim')}`}`
  if (view.rows <= ROOMY && !isSelected) return [head]
  const [match, ...others] = excerpts
  if (!match) return [head]
  const most = view.rows <= ROOMY ? 1 : isSelected ? SELECTED_ROWS : OTHER_ROWS
  const rest = isSelected && view.rows > ROOMY ? others.flatMap((one) => excerptRows(one, 1, view)) : []
  return [head, ...excerptRows(match, most, view), ...rest]
}

function excerptRows({ lead, pieces }: SearchExcerpt, rows: number, { columns, color }: Face): string[] {
  const who = lead === '' ? '' : `${truncateText(cleanLine(lead), MAX_LEAD_WIDTH)}: `
  const room = Math.max(1, columns - INDENT)
  const cleaned = cleanPieces(pieces)
  const lines = fitPieces(cleaned, { columns: room, rows, color, styles: ['dim'], lead: who })
  return lines.map((line) => ' '.repeat(INDENT) + line)
}

const MAX_LEAD_WIDTH = 16

interface Fit {
  columns: number
  rows: number
  color: boolean
  /** The styles of text that does not match. */
  styles: readonly TextStyle[]
  /** A prefix that is always shown, even when the text after it is shortened. */
  lead?: string
}

/** Renders cleaned pieces in at most `rows` rows, starting shortly before the first match. */
function fitPieces(pieces: readonly Piece[], { columns, rows, color, styles, lead = '' }: Fit): string[] {
  const first = pieces.findIndex(({ isMatch }) => isMatch)
  const before = pieces
    .slice(0, Math.max(0, first))
    .map(({ text }) => text)
    .join('')
  const most = Math.max(0, Math.floor(columns * rows * BEFORE_SHARE))
  const isLong = measureWidth(before) > most
  const shown = isLong
    ? [{ text: most === 0 ? '' : `…${fitEnd(before, most - 1)}`, isMatch: false }, ...pieces.slice(first)]
    : pieces
  const painted = shown.map(({ text, isMatch }) =>
    isMatch ? paint(text, color, 'accent', 'bold', 'underline') : paint(text, color, ...styles),
  )
  const text = paint(lead, color, ...styles) + painted.join('')
  if (rows === 1) return [truncateText(text, columns)]
  const lines = wrapLines(truncateText(text, columns * (rows + 1)), columns)
  if (lines.length <= rows) return lines
  return [...lines.slice(0, rows - 1), truncateText(lines.slice(rows - 1).join(' '), columns)]
}

/** The maximum share of the shown text that may precede the first match. */
const BEFORE_SHARE = 0.3
