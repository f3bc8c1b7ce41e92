import { toCancelledError } from '../base/abortable.ts'
import { withDeadline } from '../base/deadline.ts'
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
  let late: CrabError | undefined
  const toError = () => {
    late = new CrabError('conflict', `${what}: another process is running a turn in it`, {
      hint: 'wait for it to end, and try again',
    })
    return late
  }
  try {
    return await withDeadline(take, { ms: withinMs, toError }, signal)
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    throw late ?? reason // the lease may report the abort in its own words
  }
}

/** Milliseconds, longer than anything but a turn holds a session. */
export const ACQUIRE_TIMEOUT_MS = 2000
