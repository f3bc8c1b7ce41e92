import { CrabError } from '../../core/base/errors.ts'

/** The recent calls of one server. Times are milliseconds since 1970. */
export class CallRecord {
  readonly #now: () => number
  #latencies: number[] = []
  /** The number of tool calls. */
  calls = 0
  /** The number of times it was connected. */
  starts = 0
  /** The number of failed calls and other requests. */
  errors = 0
  lastOkAt: number | undefined
  lastErrorAt: number | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** Records a call of a tool; a cancelled one only increments `calls`. */
  async follow<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const began = this.#now()
    this.calls++
    try {
      const answer = await call()
      this.lastOkAt = this.#now()
      this.#latencies = [...this.#latencies.slice(1 - MAX_LATENCIES), this.lastOkAt - began]
      return answer
    } catch (reason) {
      if (!signal.aborted) this.fail()
      throw reason
    }
  }

  /** Records a request that calls no tool, such as a listing: only its failure counts. */
  async observe<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await ask()
    } catch (reason) {
      if (!signal.aborted) this.fail()
      throw reason
    }
  }

  fail(): void {
    this.errors++
    this.lastErrorAt = this.#now()
  }

  /** The median of the last 32 successful calls, milliseconds. */
  get latencyMs(): number | undefined {
    return this.#latencies.toSorted((a, b) => a - b)[this.#latencies.length >> 1]
  }
}

const MAX_LATENCIES = 32

/**
 * The failures of a server: why it cannot be used, and when the next start is allowed. Times are milliseconds
 * since 1970.
 */
export class FailureRecord {
  readonly #now: () => number
  #delays = 0
  /** Whether it has answered since it was last restarted without back-off. */
  #hasAnswered = true
  /** The reason it cannot be used now. */
  error: CrabError | undefined
  /** Consecutive failures, of starts and of running servers. */
  count = 0
  /** When a call may start it again; undefined when it may now. */
  nextRetryAt: number | undefined
  /** When it is started again without a call, if anything does that. */
  selfRetryAt: number | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** Records a failed start: the next one backs off, 5 s at first, doubling each time up to 5 minutes. */
  startFailed(error: CrabError): void {
    this.#add(error)
    this.#delay(error.retryAfterMs)
  }

  /** Records that a running server asked to be retried later. */
  throttled(retryAfterMs: number): void {
    this.nextRetryAt = this.#now() + retryAfterMs
    this.selfRetryAt = this.nextRetryAt
  }

  /**
   * Records that a running server ended. A call may restart it immediately the first time; it backs off if it
   * ends again without having answered.
   */
  ended(error: CrabError): void {
    this.#add(error)
    if (this.#hasAnswered) this.#allowCalls()
    else this.#delay()
    this.#hasAnswered = false
  }

  /** Records a connection. The back-off is reset only by the first answered call. */
  connected(): void {
    this.error = undefined
    this.count = 0
    this.nextRetryAt = undefined
    this.selfRetryAt = undefined
  }

  /** Resets the back-off, after an answered call or when a user retries. */
  forgive(): void {
    this.#delays = 0
    this.#hasAnswered = true
    this.nextRetryAt = undefined
    this.selfRetryAt = undefined
  }

  /** The milliseconds until a start is allowed; 0 when it is allowed now. */
  get waitMs(): number {
    return Math.max(0, (this.nextRetryAt ?? 0) - this.#now())
  }

  /** Returns the error for a call that does not wait for the back-off. */
  tooEarly(): CrabError {
    const seconds = Math.ceil(this.waitMs / 1000)
    const { message = 'it asked to be retried later', kind, hint } = this.error ?? {}
    const options = hint === undefined ? {} : { hint }
    const again = `${message}; it can be retried in ${seconds} s`
    return new CrabError(kind === 'credentials' ? kind : 'unavailable', again, options)
  }

  /** Sets the next retry, no earlier than `leastMs` from now, which the server may have asked for. */
  #delay(leastMs = 0): void {
    const ownMs = Math.min(FIRST_DELAY_MS * 2 ** this.#delays, MAX_DELAY_MS)
    this.nextRetryAt = this.#now() + Math.max(ownMs, leastMs)
    this.selfRetryAt = this.nextRetryAt
    this.#delays++
  }

  #allowCalls(): void {
    this.nextRetryAt = undefined
    this.selfRetryAt = this.#now() + FIRST_DELAY_MS
  }

  #add(error: CrabError): void {
    this.error = error
    this.count++
  }
}

const FIRST_DELAY_MS = 5_000
const MAX_DELAY_MS = 300_000
