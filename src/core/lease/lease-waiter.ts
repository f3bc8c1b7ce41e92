import { CrabError } from '../base/errors.ts'

/** A request for a resource. It waits, is granted or refused, and finally leaves. */
export class LeaseWaiter {
  readonly resource: string
  /** The time of the request, in milliseconds of the monotonic clock. */
  readonly since = performance.now()
  readonly #gate = Promise.withResolvers<void>()
  #state: 'waiting' | 'held' | 'left' = 'waiting'

  constructor(resource: string) {
    this.resource = resource
  }

  get isWaiting(): boolean {
    return this.#state === 'waiting'
  }

  /** True once the request is over: refused or released. */
  get hasLeft(): boolean {
    return this.#state === 'left'
  }

  grant(): void {
    if (this.#state !== 'waiting') return
    this.#state = 'held'
    this.#gate.resolve()
  }

  /** Rejects a waiting request with this failure. A granted one stays granted. */
  refuse(reason: CrabError): void {
    if (this.#state !== 'waiting') return
    this.#state = 'left'
    this.#gate.reject(reason)
  }

  leave(): void {
    this.#state = 'left'
  }

  /** Resolves when the request is granted; an abort refuses it with `cancelled`. */
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

/**
 * Returns the error for an aborted request: the CrabError of the abort (a time limit, for example), else
 * `cancelled`.
 */
export function cancelled(resource: string, { reason }: AbortSignal): CrabError {
  if (reason instanceof CrabError) return reason
  return new CrabError('cancelled', `Cannot take ${resource}: cancelled`, { cause: reason })
}

/** Returns the error for a request to leases that were disposed. */
export function closed(resource: string): CrabError {
  return new CrabError('unavailable', `Cannot take ${resource}: the leases are closed`)
}
