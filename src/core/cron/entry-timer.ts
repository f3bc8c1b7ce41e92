import { isDeepStrictEqual } from 'node:util'
import type { Cron, CronEntry } from './cron-entry.ts'
import { nextFire } from './quiet-hours.ts'

/** A fire of an entry that has become due. */
export interface DueRun {
  /** The due time, milliseconds since 1970. */
  due: number
  /**
   * The number of missed times: those before `due` (counted up to 1,000), and `due` itself when it is too
   * late.
   */
  missed: number
  /** Whether to fire now; fires that are long overdue are not caught up. */
  isOnTime: boolean
}

/** The delay after which a fire counts as missed: the machine slept, or its clock was set forward. */
const LATE_MS = 10_000
const MAX_MISSED = 1000

/** Computes when one entry fires. It has no clock: every call passes the time, in milliseconds since 1970. */
export class EntryTimer {
  #cron: Cron
  #next: number | undefined

  constructor(cron: Cron, now: number) {
    this.#cron = cron
    this.#next = nextFire(cron.timing, now)
  }

  get entry(): CronEntry {
    return this.#cron.entry
  }

  /** The time of the next fire; undefined when there is none. */
  get next(): number | undefined {
    return this.#next
  }

  /**
   * Applies the entry as it is now in the file; returns whether it changed. An edited entry restarts its
   * timer.
   */
  update(cron: Cron, now: number): boolean {
    if (isDeepStrictEqual(cron.entry, this.#cron.entry)) return false
    this.#cron = cron
    this.restart(now)
    return true
  }

  /** Computes the next time from `now` on, discarding the old one, after the clock was set. */
  restart(now: number): void {
    this.#next = nextFire(this.#cron.timing, now)
  }

  /** Returns the fire that is due at `now`, if any, and advances to the next time after `now`. */
  take(now: number): DueRun | undefined {
    const first = this.#next
    if (first === undefined || first > now) return undefined
    let due = first
    let missed = 0
    this.#next = nextFire(this.#cron.timing, due)
    while (this.#next !== undefined && this.#next <= now && missed < MAX_MISSED) {
      due = this.#next
      missed += 1
      this.#next = nextFire(this.#cron.timing, due)
    }
    if (this.#next !== undefined && this.#next <= now) this.restart(now)
    const isOnTime = now - due <= LATE_MS
    return { due, missed: isOnTime ? missed : missed + 1, isOnTime }
  }
}
