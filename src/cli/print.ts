import { toShownJson } from '../core/base/json.ts'
import { sanitize, sanitizeLine } from '../core/base/sanitize.ts'
import type { Host } from './host.ts'

/** Prints a value as JSON, for `--json`. */
export function printJson(host: Host, value: unknown): number {
  host.stdout.write(`${toShownJson(value, 2)}\n`)
  return 0
}

/** Prints a text and a line break. */
export function printLine(host: Host, text: string): number {
  host.stdout.write(sanitize(`${text}\n`))
  return 0
}

/**
 * Prints rows in aligned columns.
 *
 * On a terminal, cells before the last column are truncated to `MAX_CELL` columns, and lines to the
 * terminal's width. In a pipe every cell is whole, no line has trailing spaces, and a longer cell shifts only
 * its own line.
 */
export async function printTable(
  host: Host,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  const { default: width } = await import('string-width')
  const isTerminal = host.stdout.isTerminal
  const last = header.length - 1
  const cells = [header, ...rows].map((row) =>
    row.map((text, column) => {
      const cell = sanitizeLine(text)
      return isTerminal && column < last ? truncate(cell, MAX_CELL, width) : cell
    }),
  )
  const widths = header.map((_, column) => {
    const all = cells.map((row) => width(row[column] ?? ''))
    return Math.max(...all.filter((cell) => column === last || cell <= MAX_CELL))
  })
  const limit = isTerminal ? host.columns() : Number.POSITIVE_INFINITY
  const lines = cells.map((row) => {
    const padded = row.map((cell, column) => cell + ' '.repeat(Math.max(0, widths[column]! - width(cell))))
    return `${truncate(padded.join('  ').trimEnd(), limit, width)}\n`
  })
  host.stdout.write(lines.join(''))
  await host.stdout.flush() // later output to standard error must appear below the table
}

/** The maximum number of terminal columns of a cell; enough for names, paths and addresses of usual length. */
const MAX_CELL = 64

/** Truncates a line to the width of the terminal; in a pipe it stays whole. */
export async function fitLine(host: Host, line: string): Promise<string> {
  if (!host.stdout.isTerminal) return line
  const { default: width } = await import('string-width')
  return truncate(line, host.columns(), width)
}

function truncate(line: string, limit: number, width: (text: string) => number): string {
  if (width(line) <= limit) return line
  let result = ''
  for (const char of line) {
    if (width(result) + width(char) > limit - 1) break
    result += char
  }
  return `${result}…`
}
