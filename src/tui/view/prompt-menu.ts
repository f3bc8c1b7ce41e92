import { toVisible } from '../../core/base/visible.ts'
import { toGraphemes } from '../text/graphemes.ts'
import type { Menu } from '../text/menu.ts'
import { cleanLine } from './clean.ts'
import { paint } from './style.ts'
import { measureWidth, padText, truncateText } from './text.ts'
import type { RenderContext } from './view.ts'
import { windowAround } from './window.ts'

/** Renders the suggestions: `most` rows around the selected one, all narrower than the terminal. */
export function renderMenu({ kind, entries, selected }: Menu, view: RenderContext, most: number): string[] {
  const rows = itemsAround(entries, selected, most).map(({ item, isSelected }) => ({
    label: toVisible(item.label),
    detail: cleanLine(item.detail),
    isSelected,
  }))
  const room = computeRoom(view)
  if (kind === 'file') return rows.map((row) => renderRow({ ...row, label: pathEnd(row.label, room) }, view))
  const widest = Math.max(...rows.map(({ label }) => measureWidth(label)))
  const column = Math.min(room, widest, Math.max(8, Math.floor(room * LABEL_SHARE)))
  return rows.map((row) =>
    renderRow({ ...row, label: padText(truncateText(row.label, column), column) }, view),
  )
}

const LABEL_SHARE = 0.45
const GAP = '  '

/** Truncates a path at its start, because the end is more telling. */
function pathEnd(path: string, width: number): string {
  return measureWidth(path) <= width || width < 1 ? truncateText(path, width) : `…${fitEnd(path, width - 1)}`
}

/** Returns as much of the end of a text as fits. */
export function fitEnd(text: string, width: number): string {
  const graphemes = toGraphemes(text)
  let room = width
  const cut = graphemes.findLastIndex((grapheme) => {
    room -= measureWidth(grapheme)
    return room < 0
  })
  return graphemes.slice(cut + 1).join('')
}

interface Row {
  label: string
  detail: string
  isSelected: boolean
}

function renderRow({ label, detail, isSelected }: Row, view: RenderContext): string {
  const left = computeRoom(view) - measureWidth(label) - GAP.length
  const shown = left > 0 ? truncateText(detail, left) : ''
  const rest = shown === '' ? '' : GAP + paint(shown, view.color, 'dim')
  const mark = isSelected ? '› ' : '  '
  const line = isSelected ? paint(mark + label, view.color, 'accent', 'bold') : mark + label
  return view.columns > MARK_COLUMNS ? line + rest : ''
}

const MARK_COLUMNS = 2

function computeRoom({ columns }: RenderContext): number {
  return Math.max(0, columns - MARK_COLUMNS - 1)
}

function itemsAround<T>(
  items: readonly T[],
  selected: number,
  most: number,
): { item: T; isSelected: boolean }[] {
  const { start, end } = windowAround(items.length, most, selected)
  return items.slice(start, end).map((item, at) => ({ item, isSelected: start + at === selected }))
}
