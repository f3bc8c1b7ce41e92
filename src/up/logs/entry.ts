import { parseObject } from '../../core/base/json.ts'
import type { LogLevel } from '../../core/base/log.ts'
import { toTime } from '../foreign-time.ts'

/**
 * The origin of a log line: the service's log, its printed output, the systemd journal or the log of crabup's
 * supervisor.
 */
export type LogSource = 'log' | 'crash' | 'journal' | 'supervisor'

/** A parsed log line of a service. */
export interface LogEntry {
  service: string
  source: LogSource
  /** The line as it is in the file, without its line break. */
  raw: string
  /** Milliseconds since 1970; an estimate when the line carries no time. */
  time: number
  level?: LogLevel
  message: string
  /** The other fields of a structured line. */
  fields: Readonly<Record<string, unknown>>
}

/**
 * Parses a line that a service logged (see LogFile) or printed; `about` is the time of a line that carries
 * none.
 */
export function parseLogEntry(
  raw: string,
  at: { service: string; source: LogSource; about: number },
): LogEntry {
  const { service, source, about } = at
  const line = raw.startsWith('{') ? parseObject(raw) : undefined
  const { time, level, message, msg, ...fields } = line ?? {}
  const text = message ?? msg
  if (line === undefined || typeof text !== 'string') {
    return { service, source, raw, time: about, message: raw, fields: {} }
  }
  const known = isLevel(level) && { level }
  const origin = resolveService(service, source, fields)
  return { ...origin, source, raw, time: toTime(time) ?? about, ...known, message: text }
}

/** Resolves the service of a line: crabup's own supervisor writes one log for all of its services. */
function resolveService(
  service: string,
  source: LogSource,
  fields: Readonly<Record<string, unknown>>,
): Pick<LogEntry, 'service' | 'fields'> {
  const { service: serviceName, ...others } = fields
  return source === 'supervisor' && typeof serviceName === 'string'
    ? { service: serviceName, fields: others }
    : { service, fields }
}

function isLevel(level: unknown): level is LogLevel {
  return typeof level === 'string' && LEVELS.has(level)
}

const LEVELS: ReadonlySet<string> = new Set<LogLevel>(['debug', 'info', 'warn', 'error'])
