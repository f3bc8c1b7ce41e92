import stringWidth from 'string-width'
import { pluralize } from '../../core/base/format.ts'
import { colorize, type Paint } from '../color.ts'

/** The properties of a terminal that affect rendering. */
export interface TerminalStyle {
  columns: number
  color: boolean
}

interface QuoteOptions {
  style: TerminalStyle
  /** The maximum number of rows; further rows are omitted and counted. */
  maxRows: number
  /** Returns the color of a line. */
  tint?: (line: string, at: number) => Paint | undefined
}

/** Prefixes every row of foreign text, so that none of it can pass for our own output. */
const BAR = '  │ '

/** Renders foreign text, which must be escaped already, as rows behind a bar that fit the terminal's width. */
export function quoteWithBar(
  text: string,
  { style, maxRows, tint = () => undefined }: QuoteOptions,
): string[] {
  const rows = text.split('\n').flatMap((line, at) => {
    const color = tint(line, at)
    const pieces = toRows(line, style.columns - BAR.length)
    return pieces.map((piece) => BAR + (color ? colorize(piece, color, style.color) : piece))
  })
  const left = rows.length - maxRows
  if (left <= 0) return rows
  return [...rows.slice(0, maxRows), `  … ${pluralize(left, 'more line')}; ? shows all`]
}

/** Renders a label and its text in as many rows as needed; rows passed as an array are not wrapped. */
export function labelRows(
  name: string,
  text: string | readonly string[],
  { columns, color }: TerminalStyle,
): string[] {
  const rows =
    typeof text === 'string' ? toRows(text.replaceAll('\n', '\\n'), columns - NAME_WIDTH - 2) : text
  return rows.map((row, at) => `  ${colorize((at === 0 ? name : '').padEnd(NAME_WIDTH), 'dim', color)}${row}`)
}

/** Wraps a text between words; rows beyond `maxRows` are dropped, and the last one then ends with `…`. */
export function wrapToRows(
  text: string,
  { columns, maxRows }: { columns: number; maxRows: number },
): string[] {
  const width = columns - NAME_WIDTH - 3 // leaves room for the ellipsis
  const rows: string[] = []
  for (const word of text.replaceAll('\n', '\\n').split(/ +/)) {
    const [first = '', ...more] = toRows(word, width)
    const row = rows.at(-1)
    const joined = row === undefined ? first : `${row} ${first}`
    if (row !== undefined && stringWidth(joined) <= width && more.length === 0) rows[rows.length - 1] = joined
    else rows.push(first, ...more)
  }
  return rows.length <= maxRows ? rows : rows.slice(0, maxRows).with(maxRows - 1, `${rows[maxRows - 1]}…`)
}

const NAME_WIDTH = 6
const MIN_WIDTH = 10

/** Splits a line into pieces of at most that many columns. */
function toRows(line: string, columns: number): string[] {
  const width = Math.max(columns, MIN_WIDTH)
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
