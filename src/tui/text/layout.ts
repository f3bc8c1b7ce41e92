import { iterateGraphemes, toBoundary } from './graphemes.ts'
import { type Pastes, pasteLabel } from './pastes.ts'

/** A line on the screen: the cells of a text between two offsets. */
export interface VisualLine {
  start: number
  /** The end offset, before the line feed if there is one. */
  end: number
  cells: readonly Cell[]
}

/** The cells drawn for one grapheme. */
export interface Cell {
  start: number
  text: string
  width: number
  isPaste: boolean
}

/** A text laid out in lines, with conversions between offsets and positions. */
export interface Layout {
  lines: readonly VisualLine[]
  /** Returns the line and column of the caret. The column after a full line counts as a column. */
  at(caret: number): { x: number; y: number }
  /** Returns the offset nearest to a column of a line. */
  offset(y: number, x: number): number
}

/** The bounds of a layout. */
export interface LayoutOptions {
  /** At least 1. */
  width: number
  pastes: Pastes
  /** The offset at which the layout starts. */
  from: number
}

/** Lays a text out in lines no wider than `width`, broken after spaces where possible. */
export function layOut(text: string, { width, pastes, from }: LayoutOptions): Layout {
  const lines: VisualLine[] = []
  let start = from
  for (const line of text.slice(from).split('\n')) {
    lines.push(...wrapLine(line, { start, width, pastes }))
    start += line.length + 1
  }
  const findLine = (caret: number) =>
    Math.max(
      0,
      lines.findLastIndex((line) => line.start <= caret),
    )
  return {
    lines,
    at(caret) {
      const y = findLine(caret)
      const before = lines[y]!.cells.filter((cell) => cell.start < caret)
      return { x: before.reduce((sum, cell) => sum + cell.width, 0), y }
    },
    offset(y, x) {
      const line = lines[y]!
      let left = 0
      for (const cell of line.cells) {
        if (left + cell.width > x) return cell.start
        left += cell.width
      }
      const isSoft = lines[y + 1]?.start === line.end
      const last = line.cells.at(-1)
      return isSoft && last ? last.start : toBoundary(text, line.end)
    },
  }
}

interface LineOptions {
  start: number
  width: number
  pastes: Pastes
}

function wrapLine(line: string, { start, width, pastes }: LineOptions): VisualLine[] {
  const cells = toCells(line, { start, width, pastes })
  const lines: VisualLine[] = []
  let first = 0
  let taken = 0
  let breakAt = 0 // after the last space of the current line
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index]!
    while (taken + cell.width > width && index > first) {
      const cut = breakAt > first && cell.text !== ' ' ? breakAt : index
      lines.push(toLine(cells.slice(first, cut), cells[cut]?.start ?? cell.start))
      taken = cells.slice(cut, index).reduce((sum, { width }) => sum + width, 0)
      first = cut
      breakAt = cut
    }
    taken += cell.width
    if (cell.text === ' ') breakAt = index + 1
  }
  lines.push(toLine(cells.slice(first), start + line.length, cells[first]?.start ?? start))
  return lines
}

function toLine(cells: readonly Cell[], end: number, start = cells[0]!.start): VisualLine {
  return { start, end, cells }
}

function toCells(line: string, { start, width, pastes }: LineOptions): Cell[] {
  const cells: Cell[] = []
  for (const grapheme of iterateGraphemes(line)) {
    const label = pasteLabel(grapheme.text, pastes)
    cells.push({
      start: start + grapheme.start,
      ...toDrawable(grapheme, width, label),
      isPaste: label !== undefined,
    })
  }
  return cells
}

/** Replaces graphemes that cannot be drawn, and truncates those wider than a line. */
function toDrawable(
  { text, width }: { text: string; width: number },
  room: number,
  label: string | undefined,
) {
  if (label !== undefined) return { text: label.slice(0, room), width: Math.min(label.length, room) }
  if (text === '\t') return { text: ' '.repeat(Math.min(TAB, room)), width: Math.min(TAB, room) }
  if (UNDRAWABLE.test(text)) return { text: '\ufffd', width: 1 }
  return width > room ? { text: '?', width: 1 } : { text, width }
}

const TAB = 4
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const UNDRAWABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]|\p{Cs}/u
