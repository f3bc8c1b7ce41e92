import { toGraphemes } from '../text/graphemes.ts'
import { paint, type TextStyle } from '../view/style.ts'
import { measureWidth, padText, truncateText, wrapLines } from '../view/text.ts'
import type { Window } from '../view/window.ts'
import type { CardScroll } from './types.ts'

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

/** The parts of the first line of a card. */
interface CardTitle {
  title: string
  /** The scroll position; may be empty. */
  place: string
  /** The agent that asks; may be empty. */
  who: string
  /** The directory in which the call would run; may be empty. */
  directory?: string
  style: TextStyle
}

/**
 * Renders the first line of a card: a rule with its title, its scroll position, the agent, and the directory.
 * When space is short, the directory loses its start, and then the parts from the right are left out.
 */
export function titleRule(
  { title, place, who, directory = '', style }: CardTitle,
  { columns, color }: { columns: number; color: boolean },
): string {
  const taken = [place, who].filter(Boolean).reduce((sum, text) => sum + measureWidth(text) + 3, 0)
  const left = Math.max(MIN_LEFT, measureWidth(title) + MIN_LINE)
  const shown = takeEnd(directory, columns - left - taken - BETWEEN.length)
  const asker = who === '' || shown === '' ? who : `${who}${BETWEEN}${shown}`
  const right = [place, asker].filter((text) => text !== '').map((text) => ` ${text} ─`)
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
/** The columns beside a title: its line before, and one after it, with blanks. */
const MIN_LINE = 6
const BETWEEN = ' · '
/** The minimum width, in columns, at which the end of a directory says something. */
const MIN_DIRECTORY = 8

/**
 * Returns the end of a path that fits, after `…`: whole folders if possible; empty when there is too little
 * space.
 */
function takeEnd(path: string, width: number): string {
  if (measureWidth(path) <= width) return path
  if (width < MIN_DIRECTORY) return ''
  for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1))
    if (measureWidth(path.slice(at)) < width) return `…${path.slice(at)}`
  const graphemes = [...toGraphemes(path)]
  while (measureWidth(graphemes.join('')) > width - 1) graphemes.shift()
  return `…${graphemes.join('')}`
}

/**
 * Returns the rows that a card may use above the composer. When space is short, it covers the turn and the
 * hints, but never the composer or the status line.
 */
export function cardHeight({ rows, promptRows }: { rows: number; promptRows: number }): number {
  const most = Math.max(1, rows - 2 - promptRows) // the frame is always lower than the terminal
  return Math.min(most, Math.max(MIN_HEIGHT, rows - OTHERS - promptRows))
}

/** The rows below the prompt, and those that still show what happened before. */
const OTHERS = 4
const MIN_HEIGHT = 10

/** Returns the number of rows that are scrolled off the top after a key. */
export function toScrollPosition(
  to: CardScroll,
  { start, most, page }: { start: number; most: number; page: number },
): number {
  if (typeof to === 'string') return to === 'start' ? 0 : most
  return Math.max(0, Math.min(most, start + to * page))
}

/** The hint while text in the composer keeps the keys from the card. */
export const CLEAR_PROMPT = 'Clear the prompt to answer here'

/** Describes the visible range; empty when everything is visible. */
export function positionText(total: number, { start, end }: Window, columns: number): string {
  if (end - start >= total) return ''
  return columns < 60 ? `${start + 1}–${end}/${total}` : `${start + 1}–${end} of ${total} · PgUp PgDn End`
}

/** Truncates the rows that are wider than the terminal. */
export function clampRows(rows: readonly string[], columns: number): string[] {
  return rows.map((row) => (measureWidth(row) <= columns ? row : truncateText(row, columns)))
}
