import { CrabError } from '../base/errors.ts'
import type { Cron, CronEntry } from './cron-entry.ts'
import { type EntryState, type LastRun, newEntryState } from './cron-state.ts'
import { type DueRun, EntryTimer } from './entry-timer.ts'
import { type FiredTurn, toLastRun } from './last-run.ts'

/** One entry while a scheduler runs: its timer, and what it came to so far. */
export class CronJob {
  readonly timer: EntryTimer
  readonly #state: EntryState
  /** Fires that were skipped since the turn that runs began. */
  #skippedNow = 0

  /** `before` is what an earlier scheduler knew of it. */
  constructor(cron: Cron, before: EntryState | undefined, now: number) {
    this.timer = new EntryTimer(cron, now)
    const { running, next: _, ...kept } = before ?? newEntryState(cron.entry.id)
    this.#state = kept
    if (running !== undefined) this.end({ due: running, now, error: killed() })
  }

  get isRunning(): boolean {
    return this.#state.running !== undefined
  }

  /** It fires once, and has. */
  get isSpent(): boolean {
    const { entry } = this.timer
    return entry.once && this.#state.claim === JSON.stringify(entry)
  }

  /** When it is to be looked at next. */
  get next(): number | undefined {
    return this.isSpent ? undefined : this.timer.next
  }

  get state(): EntryState {
    const { next } = this
    return { ...this.#state, ...(next !== undefined && { next }) }
  }

  /** What is due shall fire; false, and counted, when it is too late or a turn of it still runs. */
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

  /** It did not begin after all: it may fire again. */
  takeBack(): void {
    this.#state.fired -= 1
    delete this.#state.claim
  }

  /** Gives how it ended, and how often it was due meanwhile. */
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
  return new CrabError('unavailable', 'Cannot tell how it ended: its scheduler was killed')
}
