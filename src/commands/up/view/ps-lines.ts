import { formatAge, formatMegabytes } from '../../../core/base/format.ts'
import { sanitize } from '../../../core/base/sanitize.ts'
import type { ServiceRow } from '../../../up/ps/gather.ts'
import type { ServiceState } from '../../../up/ps/state.ts'
import { colorize, type Paint } from '../../color.ts'
import { truncateAnsi } from './ansi.ts'

/** Services as lines of any length. */
export interface PsLines {
  table: readonly string[]
  /** What is to be known of them. */
  notes: readonly string[]
}

/** How services are shown. */
export interface PsStyle {
  now: number
  color: boolean
  /** Of the terminal; columns of the table that have no room are left out, the least needed first. */
  columns?: number | undefined
}

/** The table of services and what is to be known of them. */
export async function psLines(rows: readonly ServiceRow[], style: PsStyle): Promise<PsLines> {
  const { now, color, columns = Number.POSITIVE_INFINITY } = style
  const { default: width } = await import('string-width')
  const cells = rows.map((row) => toCells(row, now))
  const widths = HEADER.map((title, column) =>
    Math.max(...[title, ...cells.map((one) => one[column]!)].map((text) => width(text))),
  )
  const shown = columnsThatFit(widths, columns)
  const toLine = (row: readonly string[], paintState = (text: string) => text) => {
    const parts = shown.map((column) => {
      const padding = ' '.repeat(widths[column]! - width(row[column]!))
      return `${column === STATE ? paintState(row[column]!) : row[column]!}${padding}`
    })
    return truncateAnsi(parts.join('  ').trimEnd(), columns, width)
  }
  const body = cells.map((row, index) =>
    toLine(row, (state) => colorize(state, PAINTS[rows[index]!.state], color)),
  )
  const notes = rows.flatMap(({ name, notes }) =>
    notes.flatMap(({ message, hint }) => [
      line(`${name}: ${message}`),
      ...(hint === undefined ? [] : [`  ${colorize('hint', 'dim', color)}: ${line(hint)}`]),
    ]),
  )
  return { table: [toLine(HEADER), ...body], notes }
}

function columnsThatFit(widths: readonly number[], most: number): number[] {
  let shown = widths.map((_, column) => column)
  const total = () => shown.reduce((sum, column) => sum + widths[column]!, (shown.length - 1) * GAP)
  for (const column of LEAST_NEEDED) if (total() > most) shown = shown.filter((one) => one !== column)
  return shown
}

/** The same for programs. */
export function psJson(row: ServiceRow, now: number) {
  return {
    name: row.name,
    label: row.label,
    state: row.state,
    detail: row.detail ?? null,
    pid: row.pid ?? null,
    started_at: row.since === undefined ? null : new Date(row.since).toISOString(),
    uptime_seconds: row.since === undefined ? null : Math.max(0, Math.round((now - row.since) / 1000)),
    memory_bytes: row.memoryBytes ?? null,
    processes: row.processes ?? null,
    port: row.port ?? null,
    version: row.version ?? null,
    version_on_disk: row.versionOnDisk ?? null,
    restarts: row.restarts ?? null,
    installed: row.isInstalled,
    enabled: row.isEnabled,
    notes: row.notes.map(({ message, hint = null }) => ({ message, hint })),
  }
}

function toCells(row: ServiceRow, now: number): string[] {
  const { name, state, pid, since, memoryBytes, port, version, versionOnDisk, restarts } = row
  const isPending = version !== undefined && versionOnDisk !== undefined && version !== versionOnDisk
  return [
    sanitize(name),
    state,
    `${pid ?? '-'}`,
    since === undefined ? '-' : formatAge(new Date(since).toISOString(), now),
    formatMegabytes(memoryBytes),
    `${port ?? '-'}`,
    sanitize(isPending ? `${version} → ${versionOnDisk}` : (version ?? versionOnDisk ?? '-')),
    `${restarts ?? '-'}`,
  ]
}

function line(text: string): string {
  return sanitize(text).replaceAll(/\s+/g, ' ')
}

const HEADER = ['NAME', 'STATE', 'PID', 'UP', 'MEMORY', 'PORT', 'VERSION', 'RESTARTS']
const STATE = 1
const LEAST_NEEDED = [7, 5, 4, 2, 6]
const GAP = 2

const PAINTS: Record<ServiceState, Paint> = {
  ready: 'green',
  starting: 'cyan',
  degraded: 'yellow',
  crashed: 'red',
  foreign: 'red',
  stale: 'yellow',
  stopped: 'dim',
  disabled: 'dim',
}
