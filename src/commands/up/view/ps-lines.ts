import { colorize, type Paint } from '../../../cli/color.ts'
import { formatAge, formatMegabytes } from '../../../core/base/format.ts'
import { sanitize, sanitizeLine } from '../../../core/base/sanitize.ts'
import type { ServiceRow } from '../../../up/ps/gather.ts'
import type { ServiceState } from '../../../up/ps/state.ts'
import { truncateAnsi } from './ansi.ts'

/** The services as lines of any length. */
export interface PsLines {
  table: readonly string[]
  /** The notes on the services. */
  notes: readonly string[]
}

/** The style in which services are shown. */
export interface PsStyle {
  now: number
  color: boolean
  /** The width of the terminal; table columns that do not fit are left out, the least important first. */
  columns?: number | undefined
}

/** Renders the table of services and their notes. */
export async function psLines(rows: readonly ServiceRow[], style: PsStyle): Promise<PsLines> {
  const { now, color, columns = Number.POSITIVE_INFINITY } = style
  const { default: width } = await import('string-width')
  const cells = rows.map((row) => toCells(row, now))
  const widths = HEADER.map((title, column) =>
    Math.max(...[title, ...cells.map((one) => one[column]!)].map((text) => width(text))),
  )
  const visible = columnsThatFit(widths, columns)
  const toLine = (row: readonly string[], paintState = (text: string) => text) => {
    const parts = visible.map((column) => {
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
      sanitizeLine(`${name}: ${message}`),
      ...(hint === undefined ? [] : [`  ${colorize('hint', 'dim', color)}: ${sanitizeLine(hint)}`]),
    ]),
  )
  return { table: [toLine(HEADER), ...body], notes }
}

function columnsThatFit(widths: readonly number[], most: number): number[] {
  let visible = widths.map((_, column) => column)
  const total = () => visible.reduce((sum, column) => sum + widths[column]!, (visible.length - 1) * GAP)
  for (const column of DROP_ORDER) if (total() > most) visible = visible.filter((one) => one !== column)
  return visible
}

/** Converts a service to its JSON output. */
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

const HEADER = ['NAME', 'STATE', 'PID', 'UP', 'MEMORY', 'PORT', 'VERSION', 'RESTARTS']
const STATE = 1
const DROP_ORDER = [7, 5, 4, 2, 6]
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
