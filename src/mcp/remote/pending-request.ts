import { AsyncLocalStorage } from 'node:async_hooks'
import type { CrabError } from '../../core/base/errors.ts'

/** One request on its way, from its first byte to its answer. */
export class PendingRequest {
  readonly #over = new AbortController()
  readonly #answer = Promise.withResolvers<void>()
  #isAnswered = false
  /** Whether its answer comes in a stream of events, and may take its time. */
  isStreamed = false

  constructor() {
    this.#answer.promise.catch(() => undefined) // whoever waits for it is told
  }

  /** Aborted when nothing more is wanted of it. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Resolves with its answer; rejects when there will be none. */
  get answered(): Promise<void> {
    return this.#answer.promise
  }

  answer(): void {
    this.#isAnswered = true
    this.#answer.resolve()
  }

  /** There will be no answer, unless it is there. */
  fail(error: CrabError): void {
    if (this.#isAnswered) return
    this.#answer.reject(error)
    this.#over.abort(error)
  }
}

/** Tells what the SDK fetches, at whatever time it does, for which request that is; undefined is for none. */
export type CurrentRequest = AsyncLocalStorage<PendingRequest | undefined>

export function newCurrentRequest(): CurrentRequest {
  return new AsyncLocalStorage()
}
