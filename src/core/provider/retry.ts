import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../base/abortable.ts'
import { ERROR_KINDS, toCrabError } from '../base/errors.ts'
import type { ModelEvent } from './types.ts'

/**
 * Streams `attempt()`, and retries after a transient failure if nothing has been yielded yet (ADR 0043).
 *
 * Backs off exponentially from 100 ms, with jitter in [b/2, b], or waits as long as the server asked.
 * Retrying ends after 20 s: a longer Retry-After is not waited for, and the error carries it. A `retry` event
 * announces each wait.
 */
export async function* withRetry(
  attempt: () => AsyncIterable<ModelEvent>,
  retries: number,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  let deadline: number | undefined
  for (let count = 1; ; count++) {
    let hasYielded = false
    try {
      for await (const event of attempt()) {
        hasYielded = true
        yield event
      }
      return
    } catch (reason) {
      const error = toCrabError(reason)
      const delayMs = error.retryAfterMs ?? backoffMs(count)
      deadline ??= performance.now() + BUDGET_MS
      const isLate = performance.now() + delayMs > deadline
      const isFinal = signal.aborted || hasYielded || count > retries || isLate
      if (isFinal || !ERROR_KINDS[error.kind].retryable) throw error
      yield { type: 'retry', attempt: count, delayMs, error }
      await pause(delayMs, signal)
    }
  }
}

function backoffMs(count: number): number {
  const full = FIRST_MS * 2 ** (count - 1)
  return Math.round(full / 2 + (Math.random() * full) / 2)
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw toCancelledError(signal)
  })
}

const FIRST_MS = 100
const BUDGET_MS = 20_000
