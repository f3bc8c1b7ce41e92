import type { Log } from '../../core/base/log.ts'
import { sanitize } from '../../core/base/sanitize.ts'

/** The log for a person who looks on: `20:51:03 warn  message key=value`, without control sequences. */
export function terminalLog(output: { write(text: string): unknown }, now: () => number): Log {
  return (level, message, fields = {}) => {
    if (level === 'debug') return
    const time = new Date(now()).toTimeString().slice(0, 8)
    const more = Object.entries(fields).map(([name, value]) => ` ${name}=${shown(value)}`)
    output.write(sanitize(`${time} ${level.padEnd(5)} ${message}${more.join('')}\n`))
  }
}

/** Both are told. */
export function bothLogs(a: Log, b: Log): Log {
  return (level, message, fields) => {
    a(level, message, fields)
    b(level, message, fields)
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value)
}
