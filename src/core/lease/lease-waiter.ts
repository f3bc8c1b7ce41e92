import { CrabError } from '../base/errors.ts'

/** Somebody who wants a resource: waits, is granted it or refused, and leaves. */
export class LeaseWaiter {
  readonly resource: string
  /** Milliseconds of the monotonic clock. */
  readonly since = performance.now()
  readonly #gate = Promise.withResolvers<void>()
  #state: 'waiting' | 'held' | 'left' = 'waiting'

  constructor(resource: string) {
    this.resource = resource
  }

  get isWaiting(): boolean {
    return this.#state === 'waiting'
  }

  /** True once it wants nothing any more: refused, or given back. */
  get hasLeft(): boolean {
    return this.#state === 'left'
  }

  grant(): void {
    if (this.#state !== 'waiting') return
    this.#state = 'held'
    this.#gate.resolve()
  }

  /** Ends the waiting with this failure; what is held stays held. */
  refuse(reason: CrabError): void {
    if (this.#state !== 'waiting') return
    this.#state = 'left'
    this.#gate.reject(reason)
  }

  leave(): void {
    this.#state = 'left'
  }

  /** Resolves when it is granted; an abort refuses it with `cancelled`. */
  async granted(signal: AbortSignal): Promise<void> {
    const onAbort = () => this.refuse(cancelled(this.resource, signal))
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await this.#gate.promise
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }
}

/** What a taker whose signal is aborted gets: the CrabError it was aborted with (a time limit, say), else `cancelled`. */
export function cancelled(resource: string, { reason }: AbortSignal): CrabError {
  if (reason instanceof CrabError) return reason
  return new CrabError('cancelled', `Cannot take ${resource}: cancelled`, { cause: reason })
}

/** What a taker gets from leases that were disposed. */
export function closed(resource: string): CrabError {
  return new CrabError('unavailable', `Cannot take ${resource}: the leases are closed`)
}
