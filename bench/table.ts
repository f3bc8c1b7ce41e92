import type { Figures } from './harness.ts'

/** The most a row may take; ratios are to the wall and CPU time of another row of the same run. */
export interface Marks {
  floor: string
  /** A row whose wall time is taken off first: what cannot be avoided. */
  beyond?: string
  wall?: number
  cpu?: number
  rssMb?: number
  requestBytes?: number
}

/** A row to print. */
export interface Line {
  name: string
  figures: Figures
  marks?: Marks | undefined
  requestBytes?: number | undefined
}

/** The table: per figure the median, the ratio to the floor, and ✓ or ✗ with the mark where there is one. */
export function toTable(lines: readonly Line[]): string {
  const floors = new Map(lines.map(({ name, figures }) => [name, figures]))
  const rows = lines.map(({ name, figures, marks = { floor: '' }, requestBytes }) => {
    const floor = floors.get(marks.floor)
    const beyond = floors.get(marks.beyond ?? '')?.wallMs
    return [
      name,
      against(figures.wallMs, floor?.wallMs, marks.wall, beyond),
      against(figures.cpuMs, floor?.cpuMs, marks.cpu),
      within(figures.rssMb, marks.rssMb),
      requestBytes === undefined ? '' : within(requestBytes, marks.requestBytes),
    ]
  })
  return align([['', 'wall ms', 'CPU ms', 'peak RSS MB', 'request bytes'], ...rows])
}

function against(
  value: number,
  floor: number | undefined,
  most: number | undefined,
  beyond?: number,
): string {
  if (floor === undefined) return value.toFixed(1)
  const ratio = (value - (beyond ?? 0)) / floor
  const base = beyond === undefined ? '' : `${beyond.toFixed(1)} + `
  return `${value.toFixed(1)} = ${base}${ratio.toFixed(2)} ×${judge(ratio, most)}`
}

function within(value: number, most: number | undefined): string {
  return `${value.toFixed(0)}${judge(value, most)}`
}

function judge(value: number, most: number | undefined): string {
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
