import { toVisible } from '../../core/base/visible.ts'
import { toGraphemes } from '../text/graphemes.ts'
import type { Menu } from '../text/menu.ts'
import type { Search } from '../text/prompt-state.ts'
import { cleanLine } from './clean.ts'
import { paint } from './style.ts'
import { padText, truncateText, widthOf } from './text.ts'
import type { View } from './view.ts'
import { windowAround } from './window.ts'

/** Suggestions: `most` rows around the selected one, none as wide as the terminal. */
export function renderMenu({ kind, entries, selected }: Menu, view: View, most: number): string[] {
  const rows = itemsAround(entries, selected, most).map(({ item, isSelected }) => ({
    label: toVisible(item.label),
    detail: cleanLine(item.detail),
    isSelected,
  }))
  const room = roomOf(view)
  if (kind === 'file') return rows.map((row) => renderRow({ ...row, label: pathEnd(row.label, room) }, view))
  const widest = Math.max(...rows.map(({ label }) => widthOf(label)))
  const column = Math.min(room, widest, Math.max(8, Math.floor(room * LABEL_SHARE)))
  return rows.map((row) =>
    renderRow({ ...row, label: padText(truncateText(row.label, column), column) }, view),
  )
}

const LABEL_SHARE = 0.45
const GAP = '  '

/** What is searched for, with the caret's column behind it, and what was found: `most` rows at most, but one at least. */
export function renderSearch(search: Search, view: View, most: number): { lines: string[]; x: number } {
  const { query, found, selected } = search
  const title = truncateText(SEARCH, Math.max(0, view.columns - 1))
  const shown = endOf(cleanLine(query), Math.max(0, view.columns - title.length - 1))
  const none = [paint(truncateText(NOTHING, Math.max(0, view.columns - 1)), view.color, 'dim')]
  const rows = itemsAround(found, selected, Math.max(1, most - 1)).map(({ item, isSelected }) =>
    renderRow({ label: truncateText(toLine(item), roomOf(view)), detail: '', isSelected }, view),
  )
  const lines = [paint(title, view.color, 'dim') + shown, ...(rows.length === 0 ? none : rows)]
  return { lines, x: Math.min(view.columns - 1, title.length + widthOf(shown)) }
}

const SEARCH = '  search: '
const NOTHING = '  nothing that was sent holds this'

/** A path's end says more than its beginning. */
function pathEnd(path: string, width: number): string {
  return widthOf(path) <= width || width < 1 ? truncateText(path, width) : `…${endOf(path, width - 1)}`
}

/** As much of a text's end as fits. */
function endOf(text: string, width: number): string {
  const graphemes = toGraphemes(text)
  let room = width
  const cut = graphemes.findLastIndex((grapheme) => {
    room -= widthOf(grapheme)
    return room < 0
  })
  return graphemes.slice(cut + 1).join('')
}

interface Row {
  label: string
  detail: string
  isSelected: boolean
}

function renderRow({ label, detail, isSelected }: Row, view: View): string {
  const left = roomOf(view) - widthOf(label) - GAP.length
  const shown = left > 0 ? truncateText(detail, left) : ''
  const rest = shown === '' ? '' : GAP + paint(shown, view.color, 'dim')
  const mark = isSelected ? '› ' : '  '
  const line = isSelected ? paint(mark + label, view.color, 'accent', 'bold') : mark + label
  return view.columns > MARK_COLUMNS ? line + rest : ''
}

const MARK_COLUMNS = 2

function roomOf({ columns }: View): number {
  return Math.max(0, columns - MARK_COLUMNS - 1)
}

/** The items around the selected one. */
function itemsAround<T>(
  items: readonly T[],
  selected: number,
  most: number,
): { item: T; isSelected: boolean }[] {
  const { start, end } = windowAround(items.length, most, selected)
  return items.slice(start, end).map((item, at) => ({ item, isSelected: start + at === selected }))
}

/** Long texts are cut before they are looked at: a row shows no more. */
function toLine(text: string): string {
  return cleanLine(text.slice(0, MOST_CHARS).replaceAll('\n', ' ⏎ '))
}

const MOST_CHARS = 500
