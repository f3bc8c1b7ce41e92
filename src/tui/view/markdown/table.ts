import type { Tokens } from 'marked'
import { paint } from '../style.ts'
import { measureWidth, padText, wrapLines } from '../text.ts'
import { renderInline } from './inline.ts'
import type { MarkdownView } from './types.ts'

/**
 * Renders a table in columns, or row by row as `header: value` when columns would be too narrow. With
 * `continues` the header is left out.
 */
export function renderTable(table: Tokens.Table, view: MarkdownView, continues: boolean): string[] {
  const { color, columns } = view
  const header = table.header.map(({ tokens }) => toLine(renderInline(tokens, color)))
  const rows = table.rows.map((row) => row.map(({ tokens }) => toLine(renderInline(tokens, color))))
  const widths = fitColumns([header, ...rows], columns - BETWEEN.length * (header.length - 1))
  if (!widths) return renderRecords(header, rows, view)
  const paintRow = (row: readonly string[]) => renderRow(row, { widths, align: table.align, color })
  const head = header.map((cell) => paint(cell, color, 'bold'))
  const body = rows.map(paintRow)
  const line = paint(widths.map((width) => '─'.repeat(width)).join('─┼─'), color, 'dim')
  const isTall = body.some(({ length }) => length > 1)
  const lines = body.flatMap((row, i) => (isTall && i > 0 ? [line, ...row] : row))
  return continues ? [...(isTall ? [line] : []), ...lines] : [...paintRow(head), line, ...lines]
}

const BETWEEN = ' │ '

/** The minimum column width; narrower columns break too many words. */
const MIN_WIDTH = 6

function toLine(text: string): string {
  return text.replaceAll('\n', ' ')
}

/** Computes column widths that fit in `room` together; undefined when columns would be too narrow to read. */
export function fitColumns(rows: readonly (readonly string[])[], room: number): number[] | undefined {
  const count = rows[0]?.length ?? 0
  const natural = Array.from({ length: count }, (_, i) =>
    rows.reduce((most, row) => Math.max(most, measureWidth(row[i] ?? '')), 1),
  )
  const needed = natural.map((width) => Math.min(width, MIN_WIDTH))
  if (sum(needed) > room) return undefined
  return shrink(natural, room)
}

/** Shrinks the widest columns until all fit: narrow columns keep their width, the others share the rest. */
function shrink(natural: readonly number[], room: number): number[] {
  const widths = [...natural]
  const byWidth = natural.map((width, index) => ({ width, index })).sort((a, b) => a.width - b.width)
  let left = room
  for (const [taken, { width, index }] of byWidth.entries()) {
    const share = Math.floor(left / (byWidth.length - taken))
    widths[index] = Math.min(width, share)
    left -= widths[index]
  }
  return widths
}

function renderRow(
  cells: readonly string[],
  { widths, align, color }: { widths: readonly number[]; align: Tokens.Table['align']; color: boolean },
): string[] {
  const columns = widths.map((width, i) => wrapLines(cells[i] ?? '', width))
  const height = Math.max(...columns.map(({ length }) => length))
  const between = paint(BETWEEN, color, 'dim')
  return Array.from({ length: height }, (_, y) =>
    columns
      .map((lines, i) => padText(lines[y] ?? '', widths[i]!, align[i] ?? 'left'))
      .join(between)
      .trimEnd(),
  )
}

function renderRecords(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, color }: MarkdownView,
): string[] {
  const line = paint('─'.repeat(Math.min(columns, 12)), color, 'dim')
  const toRecord = (row: readonly string[]) =>
    header.flatMap((name, i) => wrapLines(`${paint(`${name}:`, color, 'bold')} ${row[i] ?? ''}`, columns))
  if (rows.length === 0) return wrapLines(header.join(', '), columns)
  return rows.flatMap((row, i) => (i === 0 ? toRecord(row) : [line, ...toRecord(row)]))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
