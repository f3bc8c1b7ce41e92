import { CrabError } from '../core/base/errors.ts'

/** What is held against a server: why it cannot be used, and when it may be tried again. Times are milliseconds since 1970. */
export class FailureRecord {
  readonly #now: () => number
  #failedStarts = 0
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
    const delay = Math.min(FIRST_DELAY_MS * 2 ** this.#failedStarts, MAX_DELAY_MS)
    this.#failedStarts++
    this.nextRetryAt = this.#now() + delay
  }

  /** It ended while it ran: it may be started again at once. */
  ended(error: CrabError): void {
    this.#add(error)
    this.nextRetryAt = undefined
  }

  /** It is connected. */
  clear(): void {
    this.error = undefined
    this.count = 0
    this.forgive()
  }

  /** A person wants to try again. */
  forgive(): void {
    this.#failedStarts = 0
    this.nextRetryAt = undefined
  }

  /** Milliseconds until a start may be tried; 0 when it may. */
  get waitMs(): number {
    return Math.max(0, (this.nextRetryAt ?? 0) - this.#now())
  }

  /** What is said to who does not want to wait. */
  tooEarly(): CrabError {
    const seconds = Math.ceil(this.waitMs / 1000)
    return new CrabError('unavailable', `${this.error?.message}; it can be tried again in ${seconds} s`)
  }

  #add(error: CrabError): void {
    this.error = error
    this.count++
  }
}

const FIRST_DELAY_MS = 5_000
const MAX_DELAY_MS = 300_000
