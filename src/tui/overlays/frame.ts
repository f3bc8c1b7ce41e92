import type { KeyPress } from '../text/key.ts'
import type { Section } from '../view/section.ts'
import { paint } from '../view/style.ts'
import { measureWidth, padText, truncateText } from '../view/text.ts'
import { type Face, focusHeight, type Room } from '../view/view.ts'

/** Rows of a frame itself: its title and its keys. */
const FRAME = 2

/** How many rows an overlay has between its title and its keys. */
export function bodyHeight(rows: number): number {
  return Math.max(1, focusHeight(rows) - FRAME)
}

/** An overlay: a title, what stands in it, and its keys; of these three the keys go first where there is no room. */
export function frame(
  { title, body, keys, caret }: { title: string; body: readonly string[]; keys: string; caret?: number },
  { columns, rows, color }: Face,
): Section {
  const most = focusHeight(rows)
  const foot = most > FRAME ? [paint(truncateText(keys, columns), color, 'dim')] : []
  const head = fit(title, columns)
  const lines = [head, ...body.map((line) => fit(line, columns)), ...foot].slice(0, most)
  return {
    lines,
    caret: caret === undefined ? undefined : { x: Math.min(caret, columns - 1), y: 0 },
    cut: 'tail',
    rank: 8,
  }
}

/** The row a key moves to in a list; undefined for a key that moves nowhere. */
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

/** Ctrl+P and Ctrl+N are arrows. */
function emacs({ ctrl, text, name }: KeyPress): string {
  if (!ctrl || name !== 'text') return name
  return text === 'p' ? 'up' : text === 'n' ? 'down' : ''
}

/** Cells in columns of these widths, two blanks between them. */
export function cellsLine(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .flatMap((cell, at) => {
      const width = widths[at] ?? 0
      return width === 0 ? [] : [padText(truncateText(cell, width), width)]
    })
    .join('  ')
    .trimEnd()
}

function fit(line: string, columns: number): string {
  return measureWidth(line) <= columns ? line : truncateText(line, columns)
}
