import { AsyncLocalStorage } from 'node:async_hooks'
import type { CrabError } from '../../core/base/errors.ts'

/** One request, from sending it to its response. */
export class PendingRequest {
  readonly #ended = new AbortController()
  readonly #answer = Promise.withResolvers<void>()
  #isAnswered = false
  /** Whether its response is a stream of events, which may take longer. */
  isStreamed = false

  constructor() {
    this.#answer.promise.catch(() => undefined) // the caller gets the error
  }

  /** Aborted when the request has failed. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /** Resolves when it is answered; rejects when it has failed. */
  get answered(): Promise<void> {
    return this.#answer.promise
  }

  answer(): void {
    this.#isAnswered = true
    this.#answer.resolve()
  }

  /** Fails the request unless it is already answered. */
  fail(error: CrabError): void {
    if (this.#isAnswered) return
    this.#answer.reject(error)
    this.#ended.abort(error)
  }
}

/** Associates the SDK's fetches, whenever they happen, with the request they belong to; undefined for none. */
export type CurrentRequest = AsyncLocalStorage<PendingRequest | undefined>

export function newCurrentRequest(): CurrentRequest {
  return new AsyncLocalStorage()
}
