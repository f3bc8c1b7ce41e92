import { formatSpan } from '../../core/base/format.ts'
import { cleanLine } from './clean.ts'

/** The parts of a wait that are shown. */
interface ShownWait {
  /** The number of the next attempt. */
  attempt: number
  /** 0 when unknown. */
  maxAttempts: number
  /** The milliseconds until the next attempt; not positive once it runs. */
  ms: number
}

/** Returns the reason in the message of a failure, `Cannot …: why`. */
export function formatRetryReason(message: string): string {
  const line = cleanLine(message)
  const at = line.startsWith('Cannot ') ? line.indexOf(': ') : -1
  const why = at < 0 ? line : line.slice(at + 2)
  return why.slice(0, 1).toUpperCase() + why.slice(1)
}

/** Formats a wait in parts: `trying again in 8 s`, `attempt 4 of 10`. */
export function formatRetryWait({ attempt, maxAttempts, ms }: ShownWait): string[] {
  const when = ms > 0 ? `trying again in ${formatSpan(Math.ceil(ms / 1000) * 1000)}` : 'trying again'
  return [when, `attempt ${attempt}${maxAttempts > 0 ? ` of ${maxAttempts}` : ''}`]
}
