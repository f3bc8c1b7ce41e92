import { toGraphemes } from '../text/graphemes.ts'
import { paint, type Style } from '../view/style.ts'
import { padText, truncateText, widthOf, wrapText } from '../view/text.ts'
import type { Window } from '../view/window.ts'

/** Stands before every row of somebody else's words, so that none of them passes for ours. */
export const BAR = '  │ '

/** A line in pieces of at most that many columns; no character is left out, blanks neither. */
function breakExactly(line: string, width: number): string[] {
  const room = Math.max(2, width)
  if (line.length <= room && !/[^ -~]/.test(line)) return [line]
  const rows: string[] = []
  let row = ''
  let filled = 0
  for (const grapheme of toGraphemes(line)) {
    const size = widthOf(grapheme)
    if (filled + size > room) {
      rows.push(row)
      row = ''
      filled = 0
    }
    row += grapheme
    filled += size
  }
  return [...rows, row]
}

/** Somebody else's text, made harmless before, as rows behind a bar. */
export function quoteRows(
  text: string,
  {
    columns,
    color,
    tint,
  }: { columns: number; color: boolean; tint?: (line: string, at: number) => Style | undefined },
): string[] {
  return text.split('\n').flatMap((line, at) => {
    const style = tint?.(line, at)
    const pieces = breakExactly(line, columns - BAR.length)
    return pieces.map((piece) => BAR + (style ? paint(piece, color, style) : piece))
  })
}

/** A name and what it is, in at most so many rows, broken between words. */
export function factRows(
  name: string,
  text: string,
  { columns, color, most = Number.POSITIVE_INFINITY }: { columns: number; color: boolean; most?: number },
): string[] {
  const width = Math.max(8, columns - NAME_WIDTH - 2)
  const rows = wrapText(text, width)
  const kept =
    rows.length <= most ? rows : [...rows.slice(0, most - 1), truncateText(`${rows[most - 1]} …`, width)]
  return kept.map((row, at) => `  ${paint(padText(at === 0 ? name : '', NAME_WIDTH), color, 'dim')}${row}`)
}

const NAME_WIDTH = 6

/** Two texts at the ends of one line; the left one gives way. */
export function ends(left: string, right: string, columns: number): string {
  if (right === '') return truncateText(left, columns)
  const room = columns - widthOf(right) - 2
  if (room < MIN_LEFT) return truncateText(left, columns)
  return `${padText(truncateText(left, room), room + 2)}${right}`
}

const MIN_LEFT = 12

/** Where a window stands, in words; empty when everything is in it. */
export function positionText(total: number, { start, end }: Window): string {
  return end - start >= total ? '' : `${start + 1}–${end} of ${total} · PgUp PgDn`
}

/** Lines that are no wider than the terminal, however narrow it is. */
export function clampRows(rows: readonly string[], columns: number): string[] {
  return rows.map((row) => (widthOf(row) <= columns ? row : truncateText(row, columns)))
}
