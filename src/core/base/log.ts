/** The severity of a log line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/**
 * Writes a line to the log of the process. `fields` are for programs and must not contain secrets. Never
 * throws.
 */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void

/** A log that discards everything. */
export const silentLog: Log = () => {}
