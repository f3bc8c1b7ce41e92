import { CrabError } from '../../core/base/errors.ts'

/** What is held against a server: why it cannot be used, and when it may be tried again. Times are milliseconds since 1970. */
export class FailureRecord {
  readonly #now: () => number
  #delays = 0
  /** Whether it answered since it was last taken back at once. */
  #hasAnswered = true
  /** Why it cannot be used now. */
  error: CrabError | undefined
  /** Failures in a row, of starts and of what ran. */
  count = 0
  nextRetryAt: number | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** A start failed: the next one waits, 5 s at first, twice as long each time, at most 5 minutes. */
  startFailed(error: CrabError): void {
    this.#add(error)
    this.#delay(error.retryAfterMs)
  }

  /** It runs, and asks to be left alone for a while. */
  throttled(retryAfterMs: number): void {
    this.nextRetryAt = this.#now() + retryAfterMs
  }

  /** It ended while it ran: it may be started again at once, the first time; without an answer in between it waits too. */
  ended(error: CrabError): void {
    this.#add(error)
    if (this.#hasAnswered) this.nextRetryAt = undefined
    else this.#delay()
    this.#hasAnswered = false
  }

  /** It is connected; what it is worth shows with the first call. */
  connected(): void {
    this.error = undefined
    this.count = 0
    this.nextRetryAt = undefined
  }

  /** It answered a call, or a person wants to try again. */
  forgive(): void {
    this.#delays = 0
    this.#hasAnswered = true
    this.nextRetryAt = undefined
  }

  /** Milliseconds until a start may be tried; 0 when it may. */
  get waitMs(): number {
    return Math.max(0, (this.nextRetryAt ?? 0) - this.#now())
  }

  /** What is said to who does not want to wait. */
  tooEarly(): CrabError {
    const seconds = Math.ceil(this.waitMs / 1000)
    const { message = 'it asks to be left alone', kind, hint } = this.error ?? {}
    const options = hint === undefined ? {} : { hint }
    const again = `${message}; it can be tried again in ${seconds} s`
    return new CrabError(kind === 'credentials' ? kind : 'unavailable', again, options)
  }

  /** Not before the server wants to be asked again. */
  #delay(leastMs = 0): void {
    const ownMs = Math.min(FIRST_DELAY_MS * 2 ** this.#delays, MAX_DELAY_MS)
    this.nextRetryAt = this.#now() + Math.max(ownMs, leastMs)
    this.#delays++
  }

  #add(error: CrabError): void {
    this.error = error
    this.count++
  }
}

const FIRST_DELAY_MS = 5_000
const MAX_DELAY_MS = 300_000
