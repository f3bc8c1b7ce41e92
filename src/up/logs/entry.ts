import { parseObject } from '../../core/base/json.ts'
import type { LogLevel } from '../../core/base/log.ts'
import { toTime } from '../foreign-time.ts'

/** Where a line of a service stands: in its log, in what it printed, or in what its service manager says of it. */
export type LogSource = 'log' | 'crash' | 'journal' | 'supervisor'

/** A line of the log of a service. */
export interface LogEntry {
  service: string
  source: LogSource
  /** As it stands in the file, without its end. */
  raw: string
  /** Milliseconds since 1970; of a line that does not say, about when it was written. */
  time: number
  level?: LogLevel
  message: string
  /** What it says besides. */
  fields: Readonly<Record<string, unknown>>
}

/** A line that a service wrote to its log (LogFile) or printed; `about` is when, where the line itself does not say. */
export function parseLogEntry(
  raw: string,
  at: { service: string; source: LogSource; about: number },
): LogEntry {
  const { service, source, about } = at
  const line = raw.startsWith('{') ? parseObject(raw) : undefined
  const { time, level, message, msg, ...fields } = line ?? {}
  const said = message ?? msg
  if (line === undefined || typeof said !== 'string') {
    return { service, source, raw, time: about, message: raw, fields: {} }
  }
  const known = isLevel(level) && { level }
  const whose = resolveService(service, source, fields)
  return { ...whose, source, raw, time: toTime(time) ?? about, ...known, message: said }
}

/** Our own supervisor writes one log for all of its services. */
function resolveService(
  service: string,
  source: LogSource,
  fields: Readonly<Record<string, unknown>>,
): Pick<LogEntry, 'service' | 'fields'> {
  const { service: named, ...others } = fields
  return source === 'supervisor' && typeof named === 'string'
    ? { service: named, fields: others }
    : { service, fields }
}

function isLevel(level: unknown): level is LogLevel {
  return typeof level === 'string' && LEVELS.has(level)
}

const LEVELS: ReadonlySet<string> = new Set<LogLevel>(['debug', 'info', 'warn', 'error'])
