import type { KeyPress } from '../text/key.ts'
import type { Section } from '../view/section.ts'
import { paint } from '../view/style.ts'
import { measureWidth, padText, truncateText } from '../view/text.ts'
import { type Face, focusHeight, type Room } from '../view/view.ts'

/** The rows of the frame itself: the title and the keys. */
const FRAME = 2

/** Returns the rows that an overlay has between its title and its keys. */
export function bodyHeight(rows: number): number {
  return Math.max(1, focusHeight(rows) - FRAME)
}

/**
 * Renders an overlay with its title, body and keys, which are separated by dots. When space is short, the keys are
 * dropped first, and of the keys those before the last one, which closes.
 */
export function frame(
  { title, body, keys, caret }: { title: string; body: readonly string[]; keys: string; caret?: number },
  { columns, rows, color }: Face,
): Section {
  const most = focusHeight(rows)
  const keyRows = most > FRAME ? fitKeys(keys, columns, Math.max(1, most - 1 - body.length)) : []
  const foot = keyRows.map((row) => paint(row, color, 'dim'))
  const head = fit(title, columns)
  const lines = [head, ...body.map((line) => fit(line, columns)), ...foot].slice(0, most)
  return {
    lines,
    caret: caret === undefined ? undefined : { x: Math.min(caret, columns - 1), y: 0 },
    cut: 'tail',
    rank: 8,
  }
}

/** Returns the row that a key moves to in a list; undefined for other keys. */
export function moveSelection(
  selected: number,
  total: number,
  key: KeyPress,
  room: Room,
): number | undefined {
  const page = Math.max(1, bodyHeight(room.rows) - 1)
  const steps: Readonly<Record<string, number>> = {
    up: selected - 1,
    down: selected + 1,
    'page-up': selected - page,
    'page-down': selected + page,
    home: 0,
    end: total - 1,
  }
  const to = steps[emacs(key)]
  if (to === undefined) return undefined
  const isStep = Math.abs(to - selected) === 1 && total > 0
  return isStep ? (to + total) % total : Math.max(0, Math.min(total - 1, to))
}

/** Maps Ctrl+P and Ctrl+N to the arrow keys. */
function emacs({ ctrl, text, name }: KeyPress): string {
  if (!ctrl || name !== 'text') return name
  return text === 'p' ? 'up' : text === 'n' ? 'down' : ''
}

/** Joins cells in columns of these widths, separated by two spaces. */
export function cellsLine(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .flatMap((cell, at) => {
      const width = widths[at] ?? 0
      return width === 0 ? [] : [padText(truncateText(cell, width), width)]
    })
    .join('  ')
    .trimEnd()
}

/** Lays out keys in at most `most` rows; where they do not fit, on one row with the last of them. */
function fitKeys(keys: string, columns: number, most: number): string[] {
  const rows: string[] = []
  const parts = keys.split(DOT)
  for (const part of parts) {
    const longer = rows.length === 0 ? part : `${rows.at(-1)}${DOT}${part}`
    if (rows.length > 0 && measureWidth(longer) <= columns) rows[rows.length - 1] = longer
    else rows.push(part)
  }
  if (rows.length <= Math.min(most, MAX_KEY_ROWS)) return rows.map((row) => truncateText(row, columns))
  if (parts.length <= 2) return [truncateText(keys, columns)]
  return fitKeys([...parts.slice(0, -2), parts.at(-1)].join(DOT), columns, 1)
}

const DOT = ' · '
const MAX_KEY_ROWS = 2

function fit(line: string, columns: number): string {
  return measureWidth(line) <= columns ? line : truncateText(line, columns)
}
