import { CrabError } from './errors.ts'

/** The failure of work whose signal was aborted: the CrabError it was aborted with, else `cancelled`. */
export function toCancelledError(signal: AbortSignal): CrabError {
  const reason: unknown = signal.reason
  return reason instanceof CrabError ? reason : new CrabError('cancelled', 'Cancelled', { cause: reason })
}

/** Waits for work that others wait for too: an abort ends the waiting, not the work. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const gate = Promise.withResolvers<never>()
  const onAbort = () => gate.reject(toCancelledError(signal))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, gate.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
