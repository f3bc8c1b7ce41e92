import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'

/**
 * The reaction of a terminal to a narrower size: it does nothing; wraps every line and keeps the cursor on
 * its character; or wraps like xterm.js, which moves the cursor down by every row that wrapping adds.
 */
export type Reflow = 'none' | 'all' | 'xterm.js'

/** A frame as it was drawn, and as the terminal has reflowed it since. */
export interface DrawnFrame {
  lines: readonly string[]
  /** The position of the cursor, in columns and lines. */
  caret: { x: number; y: number }
  /** The number of rows of each line. */
  heights: readonly number[]
  /** The number of rows from the top of the frame to the cursor. */
  row: number
  columns: number
  rows: number
}

/** The size of a terminal in character cells. */
export interface Size {
  columns: number
  rows: number
}

/** Creates a frame from lines that have just been drawn, with the cursor on one of them. */
export function newDrawnFrame(
  lines: readonly string[],
  caret: { x: number; y: number },
  size: Size,
): DrawnFrame {
  const heights = lines.map((line) => countLineRows(line, size.columns))
  const row = sum(heights.slice(0, caret.y)) + findRow(lines[caret.y] ?? '', caret.x, size.columns)
  return { lines, caret, heights, row, ...size }
}

/**
 * Returns the frame after the terminal has taken another size. As far as that can be known, `row` is never
 * too large: erasing from too high a row would remove content above the frame.
 */
export function reflow(drawn: DrawnFrame, size: Size, kind: Reflow): DrawnFrame {
  const { lines, caret, columns, rows } = drawn
  if (kind === 'all') return newDrawnFrame(lines, caret, size)
  if (kind === 'none') return { ...drawn, ...size }
  const left = size.rows < rows ? dropLostRows(drawn, rows - size.rows) : drawn
  if (size.columns < columns) return { ...narrow(left, size.columns), ...size }
  return size.columns > columns ? { ...widen(left, size.columns), ...size } : { ...left, ...size }
}

/** Counts the rows of a line. */
export function countLineRows(line: string, columns: number): number {
  if (line.length <= columns && PLAIN.test(line)) return 1
  const text = stripVTControlCharacters(line)
  const width = stringWidth(text)
  if (width <= columns) return 1
  return width === text.length ? Math.ceil(width / columns) : countRows(text, columns)
}

/**
 * Returns the row of a column within its line. The column after the last one of a full row still belongs to
 * that row.
 */
export function findRow(line: string, x: number, columns: number): number {
  return Math.min(Math.floor(x / columns), countLineRows(line, columns) - 1)
}

/** Guesses the kind of terminal from its environment. */
export function guessReflow(env: Readonly<Record<string, string | undefined>>): Reflow {
  const { TERM = '', TERM_PROGRAM = '', TMUX, XTERM_VERSION } = env
  if (TMUX !== undefined) return 'all'
  if (XTERM_VERSION !== undefined || TERM === 'linux' || TERM.startsWith('screen')) return 'none'
  return XTERM_JS.includes(TERM_PROGRAM) ? 'xterm.js' : 'all'
}

/**
 * Drops the rows that xterm.js removes below the cursor when it gets lower. It removes blank rows first, but
 * their number is not known here.
 */
function dropLostRows(drawn: DrawnFrame, lost: number): DrawnFrame {
  const { lines, heights, row } = drawn
  let [end, bottom] = [lines.length, sum(heights)]
  while (end > 1 && bottom > sum(heights) - lost && bottom - heights[end - 1]! > row)
    bottom -= heights[--end]!
  return { ...drawn, lines: lines.slice(0, end), heights: heights.slice(0, end) }
}

/**
 * Reflows to a narrower width like xterm.js: from the bottom to the top, moving the cursor down by every
 * added row, and skipping the line that the cursor has reached (`Buffer._reflowSmaller` of 5.5 to 6.0).
 */
function narrow(drawn: DrawnFrame, columns: number): DrawnFrame {
  const heights = [...drawn.heights]
  let { row } = drawn
  let top = sum(heights)
  for (let at = heights.length - 1; at >= 0; at--) {
    const before = heights[at]!
    top -= before
    if (row >= top && row < top + before) continue
    heights[at] = countLineRows(drawn.lines[at]!, columns)
    row += heights[at]! - before
  }
  return { ...drawn, heights, row }
}

/**
 * Reflows to a wider width like xterm.js: it skips the line of the cursor, and moves the cursor up by every
 * removed row (`_reflowLarger`).
 */
function widen(drawn: DrawnFrame, columns: number): DrawnFrame {
  let top = 0
  const heights = drawn.heights.map((before, at) => {
    const isCursor = drawn.row >= top && drawn.row < top + before
    top += before
    return isCursor ? before : Math.min(before, countLineRows(drawn.lines[at]!, columns))
  })
  return { ...drawn, heights, row: Math.max(0, drawn.row - (top - sum(heights))) }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Counts the rows of a text with wide characters. Those do not break, so a row may end a column early. */
function countRows(text: string, columns: number): number {
  let rows = 1
  let filled = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const width = Math.min(stringWidth(segment), columns)
    if (filled + width > columns) {
      rows++
      filled = 0
    }
    filled += width
  }
  return rows
}

const XTERM_JS = ['vscode', 'Hyper', 'Tabby']
const PLAIN = /^[ -~]*$/
