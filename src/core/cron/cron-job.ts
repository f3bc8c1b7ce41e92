import { CrabError } from '../base/errors.ts'
import type { Cron, CronEntry } from './cron-entry.ts'
import { type EntryState, type FiredTurn, type LastRun, newEntryState, toLastRun } from './cron-state.ts'
import { type DueRun, EntryTimer } from './entry-timer.ts'

/** One entry in a running scheduler: its timer and its state. */
export class CronJob {
  readonly timer: EntryTimer
  readonly #state: EntryState
  /** The number of skipped fires since the running turn started. */
  #skippedNow = 0

  /** `before` is the state from an earlier scheduler. A turn that was running then is recorded as failed. */
  constructor(cron: Cron, before: EntryState | undefined, now: number) {
    this.timer = new EntryTimer(cron, now)
    const { running, next: _, ...saved } = before ?? newEntryState(cron.entry.id)
    this.#state = saved
    if (running !== undefined) this.end({ due: running, now, error: killed() })
  }

  get isRunning(): boolean {
    return this.#state.running !== undefined
  }

  /** Whether the entry fires only once and has fired. */
  get isSpent(): boolean {
    const { entry } = this.timer
    return entry.once && this.#state.claim === JSON.stringify(entry)
  }

  /** The time of the next fire; undefined when there is none. */
  get next(): number | undefined {
    return this.isSpent ? undefined : this.timer.next
  }

  get state(): EntryState {
    const { next } = this
    return { ...this.#state, ...(next !== undefined && { next }) }
  }

  /**
   * Whether a due fire should run. When it is too late, or a turn of the entry is still running, returns
   * false and counts it.
   */
  accepts({ missed, isOnTime }: DueRun): boolean {
    this.#state.missed += missed
    if (!isOnTime) return false
    if (!this.isRunning) return true
    this.#state.skipped += 1
    this.#skippedNow += 1
    return false
  }

  begin(entry: CronEntry, now: number): void {
    this.#state.running = now
    this.#state.fired += 1
    this.#skippedNow = 0
    if (entry.once) this.#state.claim = JSON.stringify(entry)
  }

  /** Reverts begin() for a turn that did not start, so that the entry may fire again. */
  revertBegin(): void {
    this.#state.fired -= 1
    delete this.#state.claim
  }

  /** Records the end of a turn; returns it with the number of fires skipped meanwhile. */
  end(ended: { due: number; now: number; fired?: FiredTurn; error?: CrabError }): {
    last: LastRun
    skipped: number
  } {
    const last = toLastRun(ended)
    delete this.#state.running
    this.#state.last = last
    this.#state.failing = last.outcome === 'failed' ? this.#state.failing + 1 : 0
    if (last.outcome === 'failed') this.#state.failed += 1
    return { last, skipped: this.#skippedNow }
  }
}

function killed(): CrabError {
  return new CrabError('unavailable', 'Cannot tell how the turn ended: its scheduler was killed')
}
