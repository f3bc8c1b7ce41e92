import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../base/abortable.ts'
import { ERROR_KINDS, toCrabError } from '../base/errors.ts'
import type { ModelEvent } from './types.ts'

/**
 * Streams `attempt()`, and again after a transient failure, as long as nothing has been yielded (RFC 0027).
 *
 * Waits 100 ms, doubling, each with jitter in [b/2, b], or what the server asked for. Retrying ends after 20 s: a
 * longer Retry-After is not waited for, and the failure carries it. Each wait is announced by a `retry` event.
 */
export async function* withRetry(
  attempt: () => AsyncIterable<ModelEvent>,
  retries: number,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  let deadline: number | undefined
  for (let count = 1; ; count++) {
    let begun = false
    try {
      for await (const event of attempt()) {
        begun = true
        yield event
      }
      return
    } catch (reason) {
      const error = toCrabError(reason)
      const delayMs = error.retryAfterMs ?? backoffMs(count)
      deadline ??= performance.now() + BUDGET_MS
      const late = performance.now() + delayMs > deadline
      const over = signal.aborted || begun || count > retries || late
      if (over || !ERROR_KINDS[error.kind].retryable) throw error
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
