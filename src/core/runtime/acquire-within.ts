import { toCancelledError } from '../base/abortable.ts'
import { CrabError } from '../base/errors.ts'

/**
 * Returns what `take` acquires, such as the turn lease of a session that another process may hold for a whole
 * turn.
 *
 * Throws `conflict` when it takes longer than `withinMs`. `what` begins the message: `Cannot change the
 * conversation`.
 */
export async function acquireWithin<T>(
  take: (signal: AbortSignal) => Promise<T>,
  { what, withinMs }: { what: string; withinMs: number },
  signal: AbortSignal,
): Promise<T> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), withinMs)
  try {
    return await take(AbortSignal.any([signal, late.signal]))
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    if (!late.signal.aborted) throw reason
    throw new CrabError('conflict', `${what}: another process is running a turn in it`, {
      hint: 'wait for it to end, and try again',
    })
  } finally {
    clearTimeout(timer)
  }
}

/** Milliseconds, longer than anything but a turn holds a session. */
export const ACQUIRE_TIMEOUT_MS = 2000
