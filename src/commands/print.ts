import { sanitize } from '../core/base/sanitize.ts'
import type { Host } from './host.ts'

/** Prints a value as JSON, for `--json`. */
export function printJson(host: Host, value: unknown): number {
  host.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`)
  return 0
}

/**
 * Prints rows in aligned columns: cut to the width of a terminal, whole and without padding at the end in a pipe.
 *
 * The last column gives way when there is no room.
 */
export async function printTable(
  host: Host,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  const { default: width } = await import('string-width')
  const cells = [header, ...rows].map((row) => row.map((cell) => sanitize(cell).replaceAll(/\s+/g, ' ')))
  const widths = header.map((_, column) => Math.max(...cells.map((row) => width(row[column] ?? ''))))
  const limit = host.stdout.isTerminal ? host.columns() : Number.POSITIVE_INFINITY
  const lines = cells.map((row) => {
    const line = row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell))).join('  ')
    return `${cut(line.trimEnd(), limit, width)}\n`
  })
  host.stdout.write(lines.join(''))
  await host.stdout.flush() // what is said on standard error afterwards stands below it
}

/** A line as it fits the width of a terminal; in a pipe it stays whole. */
export async function fitLine(host: Host, line: string): Promise<string> {
  if (!host.stdout.isTerminal) return line
  const { default: width } = await import('string-width')
  return cut(line, host.columns(), width)
}

function cut(line: string, limit: number, width: (text: string) => number): string {
  if (width(line) <= limit) return line
  let kept = ''
  for (const char of line) {
    if (width(kept) + width(char) > limit - 1) break
    kept += char
  }
  return `${kept}…`
}
