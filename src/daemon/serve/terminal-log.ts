import type { Log } from '../../core/base/log.ts'
import { sanitize } from '../../core/base/sanitize.ts'

/**
 * Returns a log for a terminal, with lines such as `20:51:03 warn  message key=value` and without control
 * sequences.
 */
export function terminalLog(output: { write(text: string): unknown }, now: () => number): Log {
  return (level, message, fields = {}) => {
    if (level === 'debug') return
    const time = new Date(now()).toTimeString().slice(0, 8)
    const more = Object.entries(fields).map(([name, value]) => ` ${name}=${formatValue(value)}`)
    output.write(sanitize(`${time} ${level.padEnd(5)} ${message}${more.join('')}\n`))
  }
}

/** Returns a log that writes to both logs. */
export function bothLogs(a: Log, b: Log): Log {
  return (level, message, fields) => {
    a(level, message, fields)
    b(level, message, fields)
  }
}

function formatValue(value: unknown): string {
  return typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value)
}
