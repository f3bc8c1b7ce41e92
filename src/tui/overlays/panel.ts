import type { KeyResult } from '../text/effects.ts'
import type { KeyPress } from '../text/key.ts'
import { cleanLine } from '../view/clean.ts'
import type { Section } from '../view/section.ts'
import { paint } from '../view/style.ts'
import { measureWidth, wrapAtMost } from '../view/text.ts'
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
  const keys = getKeys(panel)
  const first = keys[0]?.key ?? ''
  const letter = key.name === 'enter' ? { ...key, text: first, ctrl: false, alt: false } : key
  const pressed = row && pressAction({ ...before, keys, value: row.value }, letter)
  return pressed
    ? { state: { ...panel, asked: pressed.state.asked }, effects: pressed.effects }
    : { state: panel, effects: [] }
}

/**
 * Renders the panel: a table, and below it the result of the last action, or of the selected row its problem or
 * what its columns have no space for.
 */
export function renderPanel(panel: Panel, view: Face): Section {
  const { columns, color } = view
  const widths = fitColumns(panel, columns - MARGIN)
  const height = Math.max(1, bodyHeight(view.rows) - (view.rows > ROOMY ? 1 + noteHeight(columns) : 0))
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
  const noteRows = wrapAtMost(
    cleanLine(describeSelected(panel, widths)),
    columns - MARGIN,
    noteHeight(columns),
  )
  const head = paint(`  ${cellsLine(panel.header, widths)}`, color, 'dim')
  const nothing = [paint('  nothing here', color, 'dim')]
  const table = rows.length === 0 ? nothing : rows
  const title = paint(cleanLine(panel.title), color, 'accent', 'bold')
  const body = view.rows > ROOMY ? [head, ...table, ...noteRows.map((row) => `  ${row}`.trimEnd())] : table
  return frame({ title, body, keys: describeKeys(panel) }, view)
}

/** Returns the text below the table. */
function describeSelected(panel: Panel, widths: readonly number[]): string {
  const { note, noteOf, rows, selected, header } = panel
  const { value, problem = '', cells = [] } = rows[selected] ?? {}
  const hidden = cells.flatMap((cell, at) => {
    const width = widths[at] ?? 0
    if (cell === '-' || measureWidth(cleanLine(cell)) <= width) return []
    return [width === 0 ? `${header[at]?.toLowerCase()} ${cell}` : cell]
  })
  const isShown = noteOf === undefined || noteOf === value
  return (isShown ? note : '') || problem || hidden.join(' · ')
}

/** Describes what the keys do, or which key must be pressed again. */
function describeKeys(panel: Panel): string {
  const keys = { ...panel, keys: getKeys(panel) }
  return confirmText(keys) ?? [keysText(keys), 'Esc closes'].filter((text) => text !== '').join(' · ')
}

/** Returns the keys of the selected row. */
function getKeys({ rows, selected, keys }: Panel): Panel['keys'] {
  return rows[selected]?.keys ?? keys
}

const MARGIN = 2
/** Terminals with at most this many rows have no space for a header and a note. */
const ROOMY = 12

/**
 * Computes the widths of the columns. When space is short, columns on the right are dropped first; 0 drops a
 * column. Space that is left goes to the columns that are cut, from the left.
 */
function fitColumns({ header, rows, hasWideEnd = false }: Panel, columns: number): number[] {
  const natural = header.map((name, at) =>
    Math.max(measureWidth(name), ...rows.map(({ cells }) => measureWidth(cleanLine(cells[at] ?? '')))),
  )
  let left = columns
  const widths = natural.map((width, at) => {
    const isWide = hasWideEnd && at === header.length - 1
    const preferred = isWide ? width : Math.min(MAX_CELL_WIDTH, width)
    const room = at === 0 ? left : left - 2
    if (room < (at === 0 ? 1 : Math.min(preferred, MIN_CELL_WIDTH))) {
      left = 0
      return 0
    }
    const taken = Math.min(preferred, room)
    left = room - taken
    return taken
  })
  return widths.map((width, at) => {
    const more = width === 0 ? 0 : Math.min(left, natural[at]! - width)
    left -= more
    return width + more
  })
}

const MAX_CELL_WIDTH = 40
const MIN_CELL_WIDTH = 4

/** Returns the number of rows below the table, which hold about as much text on a narrow terminal. */
function noteHeight(columns: number): number {
  return columns < 60 ? 3 : 2
}
