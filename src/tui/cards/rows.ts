import { toGraphemes } from '../text/graphemes.ts'
import { paint, type TextStyle } from '../view/style.ts'
import { measureWidth, padText, truncateText, wrapLines } from '../view/text.ts'
import type { Window } from '../view/window.ts'

/** The bar before every row of quoted text, so that it cannot be mistaken for text of crabtalk. */
export const BAR = '  │ '

/** Breaks a line into pieces of at most `width` columns. Every character is kept, including whitespace. */
function breakExactly(line: string, width: number): string[] {
  const room = Math.max(2, width)
  if (line.length <= room && !/[^ -~]/.test(line)) return [line]
  const rows: string[] = []
  let row = ''
  let filled = 0
  for (const grapheme of toGraphemes(line)) {
    const size = measureWidth(grapheme)
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

/** Renders quoted text, which the caller has already escaped, as rows after a bar. */
export function quoteRows(
  text: string,
  {
    columns,
    color,
    tint,
  }: { columns: number; color: boolean; tint?: (line: string, at: number) => TextStyle | undefined },
): string[] {
  return text.split('\n').flatMap((line, at) => {
    const style = tint?.(line, at)
    const pieces = breakExactly(line, columns - BAR.length)
    return pieces.map((piece) => BAR + (style ? paint(piece, color, style) : piece))
  })
}

/** Renders a labeled fact in at most `most` rows, broken between words. */
export function factRows(
  name: string,
  text: string,
  {
    columns,
    color,
    most = Number.POSITIVE_INFINITY,
    nameWidth = NAME_WIDTH,
  }: { columns: number; color: boolean; most?: number; nameWidth?: number },
): string[] {
  const width = Math.max(8, columns - nameWidth - 2)
  const rows = wrapLines(text, width)
  const visible =
    rows.length <= most ? rows : [...rows.slice(0, most - 1), truncateText(`${rows[most - 1]} …`, width)]
  return visible.map((row, at) => `  ${paint(padText(at === 0 ? name : '', nameWidth), color, 'dim')}${row}`)
}

const NAME_WIDTH = 6

/** Renders the first line of a card: a rule with its title, its scroll position, and the asker. */
export function titleRule(
  { title, place, who, style }: { title: string; place: string; who: string; style: TextStyle },
  { columns, color }: { columns: number; color: boolean },
): string {
  const right = [place, who].filter((text) => text !== '').map((text) => ` ${text} ─`)
  while (right.length > 0 && measureWidth(right.join('')) + MIN_LEFT > columns) right.pop()
  const end = right.join('')
  const start = `─ ${truncateText(title, Math.max(1, columns - measureWidth(end) - 4))} `
  const fill = '─'.repeat(Math.max(0, columns - measureWidth(start) - measureWidth(end)))
  return paint(start, color, style, 'bold') + paint(fill + end, color, 'dim')
}

/** Renders the last line of a card. */
export function bottomRule({ columns, color }: { columns: number; color: boolean }): string {
  return paint('─'.repeat(columns), color, 'dim')
}

const MIN_LEFT = 20

/**
 * Returns the rows that a card may use above the composer. When space is short, it covers the turn and the
 * hints, but never the composer or the status line.
 */
export function cardHeight({ rows, promptRows }: { rows: number; promptRows: number }): number {
  const most = Math.max(1, rows - 2 - promptRows) // the frame is always lower than the terminal
  return Math.min(most, Math.max(MIN_HEIGHT, rows - OTHERS - promptRows))
}

const OTHERS = 6
const MIN_HEIGHT = 10

/** Describes the visible range; empty when everything is visible. */
export function positionText(total: number, { start, end }: Window, columns: number): string {
  if (end - start >= total) return ''
  return columns < 60 ? `${start + 1}–${end}/${total}` : `${start + 1}–${end} of ${total} · PgUp PgDn`
}

/** Truncates the rows that are wider than the terminal. */
export function clampRows(rows: readonly string[], columns: number): string[] {
  return rows.map((row) => (measureWidth(row) <= columns ? row : truncateText(row, columns)))
}
