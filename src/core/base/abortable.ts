import { createDeferred } from './deferred.ts'
import { CrabError } from './errors.ts'

/**
 * Returns the CrabError that the signal was aborted with, or a `cancelled` error when the reason is anything
 * else.
 */
export function toCancelledError(signal: AbortSignal): CrabError {
  const reason: unknown = signal.reason
  return reason instanceof CrabError ? reason : new CrabError('cancelled', 'Cancelled', { cause: reason })
}

/** Waits for work that has other waiters too. An abort ends only this wait; the work continues. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const gate = createDeferred<never>()
  const onAbort = () => gate.reject(toCancelledError(signal))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, gate.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
