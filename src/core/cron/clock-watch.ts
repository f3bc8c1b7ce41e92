/**
 * The smallest step back that counts as setting the clock. A smaller one is a correction: timers keep
 * running, so that nothing fires twice.
 */
const CORRECTION_MS = 60_000

/** Detects that the wall clock was set back, by comparing it with a monotonic clock. */
export class ClockWatch {
  readonly #elapsed: () => number
  /** The offset of the wall clock from the monotonic clock. */
  #ahead: number

  /** Takes both clocks in milliseconds; `now` is since 1970. */
  constructor(now: number, elapsed: () => number) {
    this.#elapsed = elapsed
    this.#ahead = now - elapsed()
  }

  /**
   * Returns by how many milliseconds the clock was set back since the last call; 0 when it was not, or only
   * corrected.
   */
  setBackBy(now: number): number {
    const ahead = now - this.#elapsed()
    const back = this.#ahead - ahead
    this.#ahead = ahead
    return back < CORRECTION_MS ? 0 : back
  }
}
