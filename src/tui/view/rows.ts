import { fitColumns } from './markdown/table.ts'
import { padText, wrapLines } from './text.ts'

const BETWEEN = 2

/**
 * Aligns rows in columns without rules between them; when columns would be too narrow, cells are stacked.
 * Cells must be clean.
 */
export function alignRows(rows: readonly (readonly string[])[], columns: number): string[] {
  const count = Math.max(0, ...rows.map(({ length }) => length))
  const full = rows.map((row) => Array.from({ length: count }, (_, i) => row[i] ?? ''))
  const widths = fitColumns(full, columns - BETWEEN * (count - 1))
  if (!widths)
    return full.flatMap((row) => row.flatMap((cell) => (cell === '' ? [] : wrapLines(cell, columns))))
  return full.flatMap((row) => alignRow(row, widths))
}

function alignRow(row: readonly string[], widths: readonly number[]): string[] {
  const cells = row.map((cell, i) => wrapLines(cell, widths[i]!))
  const height = Math.max(...cells.map(({ length }) => length))
  return Array.from({ length: height }, (_, y) =>
    cells
      .map((lines, i) => padText(lines[y] ?? '', widths[i]!))
      .join(' '.repeat(BETWEEN))
      .trimEnd(),
  )
}
