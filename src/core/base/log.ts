/** How much a line of the log matters. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Tells the log of a process what happened; `fields` are for programs, and hold no secrets. Never throws. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void

/** For what has no log. */
export const silentLog: Log = () => {}
