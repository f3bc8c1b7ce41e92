import stringWidth from 'string-width'
import { colorize, type Paint } from '../color.ts'

/** How a terminal shows text. */
export interface TerminalStyle {
  columns: number
  color: boolean
}

interface QuoteOptions {
  style: TerminalStyle
  /** Rows beyond these are left out, and counted. */
  most: number
  /** What a line is painted with. */
  tint?: (line: string, at: number) => Paint | undefined
}

/** Stands before every row of somebody else's words, so that none of them passes for ours. */
const BAR = '  │ '

/** Somebody else's text, made harmless before, as rows behind a bar, none wider than the terminal. */
export function quoteWithBar(text: string, { style, most, tint = () => undefined }: QuoteOptions): string[] {
  const rows = text.split('\n').flatMap((line, at) => {
    const color = tint(line, at)
    const pieces = toRows(line, style.columns - BAR.length)
    return pieces.map((piece) => BAR + (color ? colorize(piece, color, style.color) : piece))
  })
  const left = rows.length - most
  if (left <= 0) return rows
  return [...rows.slice(0, most), `  … ${left} more ${left === 1 ? 'line' : 'lines'}; ? shows all`]
}

/** A name and what it is, in as many rows as that takes; rows that are given stay as they are. */
export function labelRows(
  name: string,
  text: string | readonly string[],
  { columns, color }: TerminalStyle,
): string[] {
  const rows =
    typeof text === 'string' ? toRows(text.replaceAll('\n', '\\n'), columns - NAME_WIDTH - 2) : text
  return rows.map((row, at) => `  ${colorize((at === 0 ? name : '').padEnd(NAME_WIDTH), 'dim', color)}${row}`)
}

/** Rows of a fact that break between words; beyond `most` they are cut, and end with `…`. */
export function wrapToRows(text: string, { columns, most }: { columns: number; most: number }): string[] {
  const width = columns - NAME_WIDTH - 3 // leaves room for the sign of a cut
  const rows: string[] = []
  for (const word of text.replaceAll('\n', '\\n').split(/ +/)) {
    const [first = '', ...more] = toRows(word, width)
    const row = rows.at(-1)
    const joined = row === undefined ? first : `${row} ${first}`
    if (row !== undefined && stringWidth(joined) <= width && more.length === 0) rows[rows.length - 1] = joined
    else rows.push(first, ...more)
  }
  return rows.length <= most ? rows : rows.slice(0, most).with(most - 1, `${rows[most - 1]}…`)
}

const NAME_WIDTH = 6
const LEAST_WIDTH = 10

/** A line in pieces of at most that many columns. */
function toRows(line: string, columns: number): string[] {
  const width = Math.max(columns, LEAST_WIDTH)
  if (line.length <= width / 2) return [line]
  const rows: string[] = []
  let row = ''
  let filled = 0
  for (const char of line) {
    const size = isPlain(char) ? 1 : stringWidth(char)
    if (filled + size > width) {
      rows.push(row)
      row = ''
      filled = 0
    }
    row += char
    filled += size
  }
  return [...rows, row]
}

function isPlain(char: string): boolean {
  return char >= ' ' && char <= '~'
}
