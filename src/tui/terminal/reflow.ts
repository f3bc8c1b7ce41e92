import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'

/**
 * What a terminal does with the lines on it when it gets narrower: nothing; wraps every line and keeps the cursor on its
 * character; or wraps as xterm.js does, which lets the cursor sink by every row that wrapping adds.
 */
export type Reflow = 'none' | 'all' | 'xterm.js'

/** What was drawn: one row a line where the line was not wider than the terminal. */
export interface Drawn {
  lines: readonly string[]
  /** Where the cursor rests, in columns and lines. */
  caret: { x: number; y: number }
  columns: number
  rows: number
}

/** Rows that a line takes. */
export function heightOf(line: string, columns: number): number {
  if (line.length <= columns && PLAIN.test(line)) return 1
  const text = stripVTControlCharacters(line)
  const width = stringWidth(text)
  if (width <= columns) return 1
  return width === text.length ? Math.ceil(width / columns) : countRows(text, columns)
}

/**
 * Rows from the top of what was drawn down to the cursor, now that the terminal has another size; never more than there
 * are, as erasing from too high a row would take away what is not ours.
 */
export function rowsAbove(
  { lines, caret, columns: before, rows: most }: Drawn,
  { columns, rows }: { columns: number; rows: number },
  reflow: Reflow,
): number {
  if (reflow === 'xterm.js' && columns < before)
    return caret.y + sunk(lines, { y: caret.y, lost: most - rows }, columns)
  const width = reflow === 'none' ? before : columns
  const above = lines.slice(0, caret.y).reduce((sum, line) => sum + heightOf(line, width), 0)
  return above + rowOf(lines[caret.y] ?? '', caret.x, width)
}

/** In which row of its line a column stands. A column behind the last one of a full row is still in that row. */
export function rowOf(line: string, x: number, columns: number): number {
  return Math.min(Math.floor(x / columns), heightOf(line, columns) - 1)
}

/** Which terminal this is, as far as its environment tells. */
export function guessReflow(env: Readonly<Record<string, string | undefined>>): Reflow {
  const { TERM = '', TERM_PROGRAM = '', TMUX, XTERM_VERSION } = env
  if (TMUX !== undefined) return 'all'
  if (XTERM_VERSION !== undefined || TERM === 'linux' || TERM.startsWith('screen')) return 'none'
  return XTERM_JS.includes(TERM_PROGRAM) ? 'xterm.js' : 'all'
}

/**
 * Rows by which the cursor of xterm.js sinks: it goes from the bottom to the top, moves the cursor down by every row it
 * adds, and leaves the line alone that the cursor has come to (`Buffer._reflowSmaller` of 5.5 to 6.0). Before that, rows
 * that the terminal has lost go from under the cursor; blank ones first, and how many of those there were is not known.
 */
function sunk(lines: readonly string[], { y, lost }: { y: number; lost: number }, columns: number): number {
  const fewest = Math.min(lines.length, Math.max(y + 1, lines.length - Math.max(0, lost)))
  let least = Number.POSITIVE_INFINITY
  for (let left = lines.length; left >= fewest; left--) {
    let added = 0
    for (let at = left - 1; at >= 0; at--) {
      if (y + added !== at) added += heightOf(lines[at]!, columns) - 1
    }
    least = Math.min(least, added)
  }
  return least
}

/** Wide characters do not break: a row may end a column early. */
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
