/** A measured value of each program: its key, title and format. */
export interface Column {
  key: string
  title: string
  /** The number of decimals; none by default. */
  digits?: number
}

/**
 * The comparison of a value. With a `floor`, the name of another line, it is the ratio to that line's value,
 * or the difference when `above` is set; without one, the value itself.
 */
export interface Mark {
  /** The upper limit. Without `most` and `least` the value is compared but not judged. */
  most?: number
  /** The lower limit, for values that should be large. */
  least?: number
  floor?: string
  /** The line whose value is subtracted first, because it cannot be avoided. */
  beyond?: string
  above?: boolean
}

/** A program and its values. A value that is missing or NaN was not measured. */
export interface Line {
  name: string
  values: Readonly<Record<string, number>>
  marks?: Readonly<Record<string, Mark>> | undefined
  /** The reason why the program could not be measured; shown instead of its first value. */
  failure?: string | undefined
}

/**
 * Formats the table: each value, its comparison, and ✓ or ✗ with the limit if there is one. With many
 * columns, columns become rows.
 */
export function toTable(columns: readonly Column[], lines: readonly Line[]): string {
  const rows = [
    ['', ...columns.map(({ title }) => title)],
    ...lines.map((line) => [line.name, ...cells(columns, line, lines)]),
  ]
  const isWide = columns.length > MAX_COLUMNS
  return align(isWide ? rows[0]!.map((_, at) => rows.map((row) => row[at]!)) : rows)
}

/** The maximum number of columns that fit on a screen. */
const MAX_COLUMNS = 6

function cells(columns: readonly Column[], line: Line, lines: readonly Line[]): string[] {
  const [first = '', ...more] = columns.map((column) => cell(column, line, lines))
  return [line.failure === undefined ? first : `not measured: ${line.failure}`, ...more]
}

function cell({ key, digits = 0 }: Column, { values, marks }: Line, lines: readonly Line[]): string {
  const value = values[key]
  if (value === undefined || Number.isNaN(value)) return ''
  const mark = marks?.[key]
  const compared =
    mark && compare(value, mark, (name) => lines.find((line) => line.name === name)?.values[key])
  return [value.toFixed(digits), compared?.text, compared && judge(compared.value, mark ?? {})].join('')
}

function compare(
  value: number,
  { floor, beyond, above }: Mark,
  valueAt: (name: string) => number | undefined,
): { text: string; value: number } | undefined {
  if (floor === undefined) return { text: '', value }
  const base = valueAt(floor)
  const off = beyond === undefined ? 0 : valueAt(beyond)
  if (base === undefined || off === undefined) return undefined
  if (above) return { text: ` = ${base.toFixed(1)} + ${(value - base).toFixed(1)}`, value: value - base }
  const ratio = (value - off) / base
  return {
    text: ` = ${beyond === undefined ? '' : `${off.toFixed(1)} + `}${ratio.toFixed(2)} ×`,
    value: ratio,
  }
}

function judge(value: number, { most, least }: Mark): string {
  if (least !== undefined) return value >= least ? `  ✓ ≥ ${least}` : `  ✗ < ${least}`
  return most === undefined ? '' : value <= most ? `  ✓ ≤ ${most}` : `  ✗ > ${most}`
}

function align(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('   ')
        .trimEnd(),
    )
    .join('\n')
}
