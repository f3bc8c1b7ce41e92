/** A timer of the clock. */
export interface Timer {
  /** `t1`, `t2`, …; the numbers restart with the clock. */
  id: string
  label: string
  startedAt: number
  endsAt: number
  /** Aborted when the timer is cancelled. */
  cancelled: AbortSignal
}

/** The timers of a running clock; they end with it. */
export class Timers {
  readonly #now: () => number
  readonly #timers = new Map<string, Timer>()
  readonly #cancel = new WeakMap<Timer, AbortController>()
  #count = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** Starts a timer. Throws when there are too many, or its end is in the past or too far away. */
  start(endsAt: number, label: string): Timer {
    const startedAt = this.#now()
    if (endsAt < startedAt) throw new Error('That time is in the past')
    if (endsAt > startedAt + MAX_MS) throw new Error('A timer may run for 366 days at most')
    this.#prune()
    if (this.#timers.size >= MAX_TIMERS)
      throw new Error(`There are ${MAX_TIMERS} timers already: cancel some`)
    this.#count += 1
    const cancel = new AbortController()
    const timer = { id: `t${this.#count}`, label, startedAt, endsAt, cancelled: cancel.signal }
    this.#cancel.set(timer, cancel)
    this.#timers.set(timer.id, timer)
    return timer
  }

  /** Lists the running timers and those that ended in the last day, the next to end first. */
  list(): Timer[] {
    this.#prune()
    return [...this.#timers.values()].toSorted((a, b) => a.endsAt - b.endsAt)
  }

  /** Returns a timer. Throws for an unknown id. */
  get(id: string): Timer {
    const timer = this.#timers.get(id.trim())
    if (timer) return timer
    const ids = [...this.#timers.keys()].join(', ')
    throw new Error(
      `The timer "${id}" does not exist: ${ids ? `the timers are ${ids}` : 'no timers are left; restarting the clock ends all of them'}`,
    )
  }

  /** Cancels and returns a timer. Throws for an unknown id. */
  cancel(id: string): Timer {
    const timer = this.get(id)
    this.#timers.delete(timer.id)
    this.#cancel.get(timer)?.abort()
    return timer
  }

  #prune(): void {
    const old = this.#now() - RETENTION_MS
    for (const { id, endsAt } of this.#timers.values()) if (endsAt < old) this.#timers.delete(id)
  }
}

const MAX_TIMERS = 100
const DAY_MS = 86_400_000
const MAX_MS = 366 * DAY_MS
const RETENTION_MS = DAY_MS
