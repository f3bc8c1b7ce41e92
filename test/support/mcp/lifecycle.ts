import { closeSync, writeSync } from 'node:fs'
import type { ServerOptions } from './options.ts'
import type { Recorder } from './record.ts'

/** The lines that a crash writes to standard error. */
export const CRASH_WORDS = [
  'Error: cannot open the database: /var/empty/db: permission denied',
  '    at open (db.js:10:7)',
  '    at main (server.js:3:1)',
]

/** The maximum life of a test process, even if it ignores everything else. */
export const LIFE_LIMIT_MS = 300_000

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Ends this process when the life limit is over, and keeps it alive until then. */
export function limitLife(): void {
  setTimeout(() => process.exit(70), LIFE_LIMIT_MS)
}

/** Records signals, and exits (after the delay of `exit`) unless they are ignored. */
export function handleSignals({ ignore = [], delay }: ServerOptions, record: Recorder): void {
  for (const signal of SIGNALS)
    process.on(signal, () => {
      record({ event: signal })
      if (ignore.includes(signal)) return
      setTimeout(() => {
        process.removeAllListeners(signal)
        process.kill(process.pid, signal)
      }, delay?.['exit'] ?? 0)
    })
}

/** Exits when the client closed standard input (after the delay of `exit`), unless that is ignored. */
export function handleInputEnd({ ignore = [], delay }: ServerOptions, record: Recorder): void {
  record({ event: 'eof' })
  if (!ignore.includes('eof')) setTimeout(() => process.exit(0), delay?.['exit'] ?? 0)
}

/** Exits with code 1 and a message on standard error. */
export function crash(): never {
  writeSync(2, `${CRASH_WORDS.join('\n')}\n`)
  process.exit(1)
}

/** Dies by SIGKILL. */
export function killSelf(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** Closes standard output and keeps running. */
export function closeStdout(): void {
  closeSync(1)
}
