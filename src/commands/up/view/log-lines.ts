import { colorize, type Paint } from '../../../cli/color.ts'
import { toLocalClock, toLocalDay } from '../../../core/base/format.ts'
import { toShownJson } from '../../../core/base/json.ts'
import { sanitize } from '../../../core/base/sanitize.ts'
import type { LogEntry } from '../../../up/logs/entry.ts'

/** The style in which log lines are shown. */
export interface LogStyle {
  /** Whether to print each line as a JSON object, whatever its format in the file. */
  isJson: boolean
  /** Whether to format lines for reading; otherwise they are printed as they are in the file. */
  isPretty: boolean
  color: boolean
  /** Whether to prefix each line with its service. */
  isNamed: boolean
  /** Milliseconds since 1970; lines of other days show their date. */
  now: number
}

/** Formats a log entry for display, without a line break. */
export function logLine(entry: LogEntry, style: LogStyle): string {
  if (style.isJson) return toShownJson(toJson(entry))
  if (!style.isPretty) {
    const line = entry.source === 'journal' ? toShownJson(toJson(entry)) : entry.raw // journal entries are not JSON
    return style.isNamed ? `${entry.service}: ${line}` : line
  }
  const { color } = style
  const name = style.isNamed ? [colorize(entry.service, 'cyan', color)] : []
  const time = colorize(formatLogTime(entry.time, style.now), 'dim', color)
  const level = colorize(levelLabel(entry).padEnd(5), choosePaint(entry), color)
  const fields = Object.entries(entry.fields).flatMap(([key, value]) =>
    key === 'pid' ? [] : [colorize(`${tidy(key)}=${text(value)}`, 'dim', color)],
  )
  return [...name, time, level, tidy(entry.message), ...fields].join(' ')
}

function toJson({ service, source, time, level, message, fields }: LogEntry) {
  const at = new Date(time).toISOString()
  return { service, source, time: at, level: level ?? null, message, fields }
}

function tidy(text: string): string {
  return sanitize(text).replaceAll(/\s*\n\s*/g, ' ⏎ ')
}

function text(value: unknown): string {
  const plain = typeof value === 'string' ? value : JSON.stringify(value)
  return tidy(/^[^\s"]+$/.test(plain) || typeof value !== 'string' ? plain : JSON.stringify(value))
}

/** Formats a time in the local time zone. */
function formatLogTime(time: number, now: number): string {
  const date = new Date(time)
  const [day, clock] = [toLocalDay(date), toLocalClock(date)]
  return day === toLocalDay(new Date(now)) ? clock : `${day} ${clock}`
}

function levelLabel({ level, source }: LogEntry): string {
  if (source === 'journal' || source === 'supervisor') return 'unit'
  return level ?? (source === 'crash' ? 'crash' : '')
}

function choosePaint({ level, source }: LogEntry): Paint {
  if (level === 'error' || (source === 'crash' && level === undefined)) return 'red'
  if (level === 'warn') return 'yellow'
  return level === 'info' ? 'green' : 'dim'
}
