import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../base/abortable.ts'
import { CrabError, ERROR_KINDS, toCrabError } from '../base/errors.ts'
import type { ModelEvent, RetryPolicy } from './types.ts'

/** The retries of a model call: how many, how long they wait, and whether an answer that broke off is repeated. */
export interface Retries {
  count: number
  /** The backoff before the first retry; it doubles up to `maxMs`. */
  firstMs: number
  maxMs: number
  /** The longest delay of a server that is waited for. */
  maxAskedMs: number
  /** The time after the first failure in which an attempt may start. */
  budgetMs: number
  /** Whether a call that has begun to answer is retried: its `retry` event then discards the answer. */
  repeatsPartial: boolean
}

/** Returns the retries of a policy; `count` replaces its usual number. */
export function toRetries(policy: RetryPolicy, count: number | undefined): Retries {
  const retries = POLICIES[policy]
  return count === undefined ? retries : { ...retries, count }
}

/**
 * Streams `attempt()`, and retries after a transient failure (ADR 0043, 0202).
 *
 * Backs off exponentially, with jitter in [b/2, b], or waits as long as the server asked. A delay that exceeds
 * the limits is not waited for, and the error carries it. A `retry` event announces each wait.
 */
export async function* withRetry(
  attempt: () => AsyncIterable<ModelEvent>,
  retries: Retries,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  let deadline: number | undefined
  for (let count = 1; ; count++) {
    let isPartial = false
    try {
      for await (const event of attempt()) {
        isPartial = true
        yield event
      }
      return
    } catch (reason) {
      const error = toCrabError(reason)
      deadline ??= performance.now() + retries.budgetMs
      const delayMs = error.retryAfterMs ?? backoffMs(count, retries)
      const isTooLong = delayMs > retries.maxAskedMs || performance.now() + delayMs > deadline
      const canRepeat = ERROR_KINDS[error.kind].retryable && (!isPartial || retries.repeatsPartial)
      if (signal.aborted || !canRepeat) throw error
      if (isTooLong || count > retries.count) throw withCount(error, count)
      const more = { maxAttempts: retries.count + 1, at: Date.now() + delayMs, error }
      yield { type: 'retry', attempt: count, delayMs, ...more, ...(isPartial && { discards: true }) }
      await pause(delayMs, signal)
    }
  }
}

function backoffMs(count: number, { firstMs, maxMs }: Retries): number {
  const full = Math.min(maxMs, firstMs * 2 ** (count - 1))
  return Math.round(full / 2 + (Math.random() * full) / 2)
}

/** Adds the number of attempts to the last error, once it is more than a quick call makes. */
function withCount(error: CrabError, attempts: number): CrabError {
  if (attempts <= POLICIES.quick.count + 1) return error
  const { kind, message, hint, retryAfterMs, isPrivate, cause = error } = error
  return new CrabError(kind, `${message}, after ${attempts} attempts`, {
    cause,
    ...(hint !== undefined && { hint }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(isPrivate && { isPrivate }),
  })
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw toCancelledError(signal)
  })
}

const POLICIES: Readonly<Record<RetryPolicy, Retries>> = {
  quick: {
    count: 2,
    firstMs: 100,
    maxMs: 20_000,
    maxAskedMs: 20_000,
    budgetMs: 20_000,
    repeatsPartial: false,
  },
  patient: {
    count: 9,
    firstMs: 500,
    maxMs: 30_000,
    maxAskedMs: 300_000,
    budgetMs: 900_000,
    repeatsPartial: true,
  },
}
