import stringWidth from 'string-width'
import { type Paint, paint } from '../color.ts'

/** How a terminal shows text. */
export interface Style {
  columns: number
  color: boolean
}

interface Quoting {
  style: Style
  /** Rows beyond these are left out, and counted. */
  most: number
  /** What a line is painted with. */
  tint?: (line: string, at: number) => Paint | undefined
}

/** Stands before every row of somebody else's words, so that none of them passes for ours. */
const BAR = '  │ '

/** Somebody else's text, made harmless before, as rows behind a bar, none wider than the terminal. */
export function quote(text: string, { style, most, tint = () => undefined }: Quoting): string[] {
  const rows = text.split('\n').flatMap((line, at) => {
    const color = tint(line, at)
    const pieces = toRows(line, style.columns - BAR.length)
    return pieces.map((piece) => BAR + (color ? paint(piece, color, style.color) : piece))
  })
  const left = rows.length - most
  if (left <= 0) return rows
  return [...rows.slice(0, most), `  … ${left} more ${left === 1 ? 'line' : 'lines'}; ? shows all`]
}

/** A name and what it is, in as many rows as that takes. */
export function fact(name: string, text: string, { columns, color }: Style): string[] {
  const rows = toRows(text.replaceAll('\n', '\\n'), columns - NAME_WIDTH - 2)
  return rows.map((row, at) => `  ${paint((at === 0 ? name : '').padEnd(NAME_WIDTH), 'dim', color)}${row}`)
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
