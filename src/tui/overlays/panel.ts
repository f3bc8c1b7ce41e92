import type { KeyResult } from '../text/effects.ts'
import type { KeyPress } from '../text/key.ts'
import { cleanLine } from '../view/clean.ts'
import type { Section } from '../view/section.ts'
import { paint } from '../view/style.ts'
import { measureWidth, truncateText, wrapLines } from '../view/text.ts'
import type { Face, Room } from '../view/view.ts'
import { windowAround } from '../view/window.ts'
import { bodyHeight, cellsLine, frame, moveSelection } from './frame.ts'
import { confirmText, keysText, pressAction } from './keys.ts'
import type { Overlay, Panel } from './types.ts'

/**
 * Handles a key in a panel. Its own keys act on the selected row, some only when pressed twice; Enter stands
 * for the first of them.
 */
export function pressPanel(before: Panel, key: KeyPress, room: Room): KeyResult<Overlay | undefined> {
  const panel = { ...before, asked: undefined }
  if (key.text === 'q' && !key.ctrl) return { state: undefined, effects: [] }
  const selected = moveSelection(panel.selected, panel.rows.length, key, room)
  if (selected !== undefined) return { state: { ...panel, selected: Math.max(0, selected) }, effects: [] }
  const row = panel.rows[panel.selected]
  const first = panel.keys[0]?.key ?? ''
  const letter = key.name === 'enter' ? { ...key, text: first, ctrl: false, alt: false } : key
  const pressed = row && pressAction({ ...before, value: row.value }, letter)
  return pressed
    ? { state: { ...panel, asked: pressed.state.asked }, effects: pressed.effects }
    : { state: panel, effects: [] }
}

/**
 * Renders the panel: a table, and below it the problem of the selected row or the result of the last action.
 */
export function renderPanel(panel: Panel, view: Face): Section {
  const { columns, color } = view
  const widths = fitColumns(panel, columns - MARGIN)
  const height = Math.max(1, bodyHeight(view.rows) - (view.rows > ROOMY ? 1 + NOTE_ROWS : 0))
  const { start, end } = windowAround(panel.rows.length, height, panel.selected)
  const rows = panel.rows.slice(start, end).map(({ cells, problem }, at) => {
    const isSelected = start + at === panel.selected
    const line = cellsLine(cells.map(cleanLine), widths)
    const styles = [
      ...(isSelected ? (['accent'] as const) : []),
      ...(problem === '' ? [] : (['warning'] as const)),
    ]
    return (isSelected ? paint('› ', color, 'accent') : '  ') + paint(line, color, ...styles)
  })
  const below = panel.note || panel.rows[panel.selected]?.problem || ''
  const noteRows = wrapLines(truncateText(cleanLine(below), (columns - MARGIN) * NOTE_ROWS), columns - MARGIN)
  const head = paint(`  ${cellsLine(panel.header, widths)}`, color, 'dim')
  const nothing = [paint('  nothing here', color, 'dim')]
  const table = rows.length === 0 ? nothing : rows
  const title = paint(cleanLine(panel.title), color, 'accent', 'bold')
  const body =
    view.rows > ROOMY
      ? [head, ...table, ...noteRows.slice(0, NOTE_ROWS).map((row) => `  ${row}`.trimEnd())]
      : table
  return frame({ title, body, keys: describeKeys(panel) }, view)
}

/** Describes what the keys do, or which key must be pressed again. */
function describeKeys(panel: Panel): string {
  return confirmText(panel) ?? [keysText(panel), 'Esc closes'].filter((text) => text !== '').join(' · ')
}

const MARGIN = 2
/** Terminals with at most this many rows have no space for a header and a note. */
const ROOMY = 12

/**
 * Computes the widths of the columns. When space is short, columns on the right are dropped first; 0 drops a
 * column.
 */
function fitColumns({ header, rows, hasWideEnd = false }: Panel, columns: number): number[] {
  const widths = header.map((name, at) => {
    const isWide = hasWideEnd && at === header.length - 1
    return Math.min(
      isWide ? columns : MAX_CELL_WIDTH,
      Math.max(measureWidth(name), ...rows.map(({ cells }) => measureWidth(cleanLine(cells[at] ?? '')))),
    )
  })
  let left = columns
  return widths.map((width, at) => {
    const room = at === 0 ? left : left - 2
    if (room < (at === 0 ? 1 : Math.min(width, MIN_CELL_WIDTH))) {
      left = 0
      return 0
    }
    const taken = Math.min(width, room)
    left = room - taken
    return taken
  })
}

const MAX_CELL_WIDTH = 40
const MIN_CELL_WIDTH = 4
const NOTE_ROWS = 2
