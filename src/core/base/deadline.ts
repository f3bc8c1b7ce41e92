import { createDeferred } from './deferred.ts'
import type { CrabError } from './errors.ts'

/** The time limit of withDeadline(). */
export interface Deadline {
  ms: number
  /** Creates the reason with which the work is aborted when the time is up. */
  toError(): CrabError
}

/**
 * Runs work with a signal that is aborted when the time is up, or with the signal of the caller.
 *
 * What the work returns may keep the signal: the deadline no longer aborts it once the work has ended. The
 * timer keeps the process alive until then. Rejects only as the work does.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { ms, toError }: Deadline,
  signal?: AbortSignal,
): Promise<T> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(toError()), ms)
  try {
    return await work(signal ? AbortSignal.any([signal, late.signal]) : late.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the result of work, or undefined when it takes longer than `ms` milliseconds; the work continues. */
export async function waitAtMost<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const late = createDeferred<undefined>()
  const timer = setTimeout(late.resolve, ms, undefined)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
