import { toVisible } from '../../core/base/visible.ts'
import type { Prompt } from '../text/prompt.ts'
import { paint } from './style.ts'
import { padText, truncateText, widthOf } from './text.ts'
import type { View } from './view.ts'

/** Suggestions, or what was found in the history: `most` rows around the selected one, none as wide as the terminal. */
export function renderPromptMenu({ menu, search }: Prompt, view: View, most: number): string[] {
  if (search) return renderSearch(search, view, most)
  if (!menu) return []
  const rows = windowOf(menu.entries, menu.selected, most)
  const labelled = rows.map((row) => ({
    ...row,
    label: toLine(row.item.label),
    detail: toLine(row.item.detail),
  }))
  const widest = Math.max(...labelled.map(({ label }) => widthOf(label)))
  const hasDetails = labelled.some(({ detail }) => detail !== '')
  const room = roomOf(view)
  const column = hasDetails ? Math.min(widest, Math.max(8, Math.floor(room * LABEL_SHARE))) : room
  return labelled.map(({ label, detail, isSelected }) =>
    renderRow({ label: fit(label, Math.min(column, room), hasDetails), detail, isSelected }, view),
  )
}

const LABEL_SHARE = 0.45
const GAP = '  '

function renderSearch({ query, found, selected }: NonNullable<Prompt['search']>, view: View, most: number) {
  const title = paint(truncateText(`  search: ${query}`, view.columns - 1), view.color, 'dim')
  const rows = windowOf(found, selected, Math.max(1, most - 1)).map(({ item, isSelected }) =>
    renderRow({ label: truncateText(toLine(item), roomOf(view)), detail: '', isSelected }, view),
  )
  return [title, ...rows]
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

function fit(label: string, width: number, isPadded: boolean): string {
  const short = truncateText(label, width)
  return isPadded ? padText(short, width) : short
}

/** The items around the selected one. */
function windowOf<T>(
  items: readonly T[],
  selected: number,
  most: number,
): { item: T; isSelected: boolean }[] {
  const first = Math.max(0, Math.min(selected - Math.floor(most / 2), items.length - most))
  return items
    .slice(first, first + most)
    .map((item, index) => ({ item, isSelected: first + index === selected }))
}

/** Long texts are cut before they are looked at: a row shows no more. */
function toLine(text: string): string {
  return toVisible(text.slice(0, MOST_CHARS).replaceAll('\n', ' ⏎ '))
}

const MOST_CHARS = 500
