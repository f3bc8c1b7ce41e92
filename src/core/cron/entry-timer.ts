import { isDeepStrictEqual } from 'node:util'
import type { Cron, CronEntry } from './cron-entry.ts'
import { nextFire } from './quiet-hours.ts'

/** What has become due of an entry. */
export interface DueRun {
  /** When, milliseconds since 1970. */
  due: number
  /** How many times before that, or at it, nobody looked; at most 1,000. */
  missed: number
  /** Whether it shall fire now: what is long past is not caught up. */
  isOnTime: boolean
}

/** Later than this is too late: the machine slept, or its clock was set forward. */
const LATE_MS = 10_000
const MOST_MISSED = 1000

/** When one entry fires. It knows no clock: every time is given, as milliseconds since 1970. */
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

  /** When it fires next; undefined when it does not any more. */
  get next(): number | undefined {
    return this.#next
  }

  /** The entry as it is in the file now: one that was edited starts its timer anew. Whether it was. */
  update(cron: Cron, now: number): boolean {
    if (isDeepStrictEqual(cron.entry, this.#cron.entry)) return false
    this.#cron = cron
    this.restart(now)
    return true
  }

  /** Looks for the next time from now on, whatever was before: the clock was set. */
  restart(now: number): void {
    this.#next = nextFire(this.#cron.timing, now)
  }

  /** What is due by now, if anything is; the next time is one that is still to come. */
  take(now: number): DueRun | undefined {
    const first = this.#next
    if (first === undefined || first > now) return undefined
    let due = first
    let missed = 0
    this.#next = nextFire(this.#cron.timing, due)
    while (this.#next !== undefined && this.#next <= now && missed < MOST_MISSED) {
      due = this.#next
      missed += 1
      this.#next = nextFire(this.#cron.timing, due)
    }
    if (this.#next !== undefined && this.#next <= now) this.restart(now)
    const isOnTime = now - due <= LATE_MS
    return { due, missed: isOnTime ? missed : missed + 1, isOnTime }
  }
}
