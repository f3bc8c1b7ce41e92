/** A clock that is set back by less is corrected, not set: nothing fires twice. */
const CORRECTION_MS = 60_000

/** Sees when people set their clock back, by one that only goes forward. */
export class ClockWatch {
  readonly #elapsed: () => number
  /** How far the clock that people may set was ahead of the other one. */
  #ahead: number

  /** Both in milliseconds, `now` since 1970. */
  constructor(now: number, elapsed: () => number) {
    this.#elapsed = elapsed
    this.#ahead = now - elapsed()
  }

  /** By how many milliseconds the clock was set back since the last look; 0 for what is none, or a mere correction. */
  setBackBy(now: number): number {
    const ahead = now - this.#elapsed()
    const back = this.#ahead - ahead
    this.#ahead = ahead
    return back < CORRECTION_MS ? 0 : back
  }
}
