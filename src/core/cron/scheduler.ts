import { waitAtMost } from '../base/deadline.ts'
import { CrabError, toCrabError } from '../base/errors.ts'
import { pluralize } from '../base/format.ts'
import type { Log } from '../base/log.ts'
import { Semaphore } from '../base/semaphore.ts'
import { ClockWatch } from './clock-watch.ts'
import { type Cron, type CronEntry, cronContent } from './cron-entry.ts'
import { type CronFile, type LoadedCrons, problemLines } from './cron-file.ts'
import { CronJob } from './cron-job.ts'
import {
  type CronState,
  type EntryState,
  type FiredTurn,
  type LastRun,
  MAX_REMOVED_ENTRIES,
  StateWriter,
  toRunFailure,
} from './cron-state.ts'

/** The dependencies of a scheduler. */
export interface SchedulerOptions {
  file: Pick<CronFile, 'read' | 'remove'>
  /** The state saved by an earlier scheduler. */
  state: CronState
  /** Runs the turn of an entry to its end; throws if the turn fails. */
  fire(entry: CronEntry, signal: AbortSignal): Promise<FiredTurn>
  save(state: CronState): Promise<void>
  log: Log
  /** Returns milliseconds since 1970 from the wall clock, which may be set. */
  now(): number
  /** Returns milliseconds from a monotonic clock. */
  elapsed(): number
}

/** The maximum number of concurrent turns; further ones wait. */
const MAX_TURNS = 16
/** The maximum time between two looks at the clock: it may be set, and the machine may sleep. */
const LOOK_MS = 2000
/** The time that cancelled turns may take to end. */
const CANCEL_MS = 5000

/**
 * Fires the entries of a file at their times, until ended. An entry never overlaps itself: fires that are due
 * while a turn of it runs are skipped. Missed fires (the machine slept, its clock was set forward) are not
 * caught up.
 */
export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #jobs = new Map<number, CronJob>()
  /**
   * Jobs whose entries left the file. They are kept because editors may write a file in two steps, and users
   * undo edits.
   */
  readonly #removed = new Map<number, CronJob>()
  readonly #retiring = new Set<CronJob>()
  readonly #running = new Set<Promise<void>>()
  readonly #slots = new Semaphore(MAX_TURNS)
  readonly #cancel = new AbortController()
  readonly #writer: StateWriter
  readonly #clock: ClockWatch
  /** The states from an earlier scheduler, until the entries have been read. */
  #before: ReadonlyMap<number, EntryState>
  #gone: CronState['gone']
  #highest: number
  /** The number of times this scheduler removed an entry from the file. */
  #removalCount = 0
  #loaded: LoadedCrons | undefined
  #reading: Promise<void> | undefined
  #mustReadAgain = false
  #timer: NodeJS.Timeout | undefined
  #isEnding = false

  constructor(options: SchedulerOptions) {
    const { state, save, log, now, elapsed } = options
    this.#options = options
    this.#before = new Map(state.entries.map((one) => [one.id, one]))
    this.#gone = state.gone
    this.#highest = state.highest
    this.#clock = new ClockWatch(now(), elapsed)
    this.#writer = new StateWriter(
      () => save(this.state),
      ({ kind, message }) => log('warn', message, { kind }),
    )
  }

  get state(): CronState {
    const { broken } = this.#loaded ?? {}
    const entries = [...[...this.#jobs.values()].map(({ state }) => state), ...this.#before.values()]
    return {
      v: 1,
      highest: this.#highest,
      ...(broken && { broken: toRunFailure(broken) }),
      entries,
      gone: this.#gone,
    }
  }

  /** The number of turns that run or wait for a slot. */
  get turns(): number {
    return this.#running.size
  }

  /** Syncs the entries with the file; concurrent calls are coalesced, and reads never overlap. Never throws. */
  reconcile(): Promise<void> {
    this.#mustReadAgain = true
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  /** Recomputes all next times after a change of the time zone; anything due until then is missed. */
  restart(): void {
    for (const job of this.#jobs.values()) job.timer.restart(this.#options.now())
    this.#writer.changed()
    this.#arm()
  }

  /**
   * Stops firing, gives turns `graceMs` to end, then cancels them; resolves when the state is written. Never
   * throws.
   */
  async end(graceMs: number): Promise<void> {
    this.#isEnding = true
    clearTimeout(this.#timer)
    await waitAtMost(Promise.all(this.#running), graceMs)
    this.#cancel.abort(endedError())
    await waitAtMost(Promise.all(this.#running), CANCEL_MS)
    await this.#writer.flush().catch((reason: unknown) => this.#warn(reason))
  }

  async #readAll(): Promise<void> {
    while (this.#mustReadAgain && !this.#isEnding) {
      this.#mustReadAgain = false
      const removalCount = this.#removalCount
      const loaded = await this.#options.file.read()
      if (removalCount !== this.#removalCount)
        this.#mustReadAgain = true // the read may have happened before the removal
      else if (loaded !== this.#loaded) this.#apply(loaded)
      for (const job of this.#jobs.values()) {
        if (job.isSpent && !job.isRunning) await this.#retire(job)
      }
    }
  }

  #apply(loaded: LoadedCrons): void {
    const { log, now } = this.#options
    const logged = new Set(this.#loaded ? problemLines(this.#loaded) : [])
    for (const line of problemLines(loaded)) if (!logged.has(line)) log('warn', line)
    this.#loaded = loaded
    const crons = new Map(loaded.crons.map((cron) => [cron.entry.id, cron]))
    for (const id of this.#jobs.keys()) if (!crons.has(id)) this.#setAside(id)
    for (const [id, cron] of crons) {
      const job = this.#jobs.get(id) ?? this.#restore(id)
      if (job?.timer.update(cron, now())) log('info', `entry ${id} was changed`, { entry: id })
      if (!job) this.#begin(cron)
    }
    if (!loaded.broken) this.#before = new Map()
    this.#highest = Math.max(this.#highest, ...crons.keys())
    log('info', pluralize(crons.size, 'entry', 'entries'))
    this.#writer.changed()
    this.#arm()
  }

  #begin(cron: Cron): void {
    const { entry } = cron
    const before = this.#before.get(entry.id)
    const job = new CronJob(cron, before, this.#options.now())
    this.#jobs.set(entry.id, job)
    if (before?.running !== undefined && job.state.last) this.#logRun(entry, job.state.last, 0)
  }

  #setAside(id: number): void {
    this.#removed.set(id, this.#jobs.get(id)!)
    this.#jobs.delete(id)
  }

  /** Restores the job of an entry that is back in the file; fires missed meanwhile are not counted. */
  #restore(id: number): CronJob | undefined {
    const job = this.#removed.get(id)
    if (!job) return undefined
    this.#removed.delete(id)
    this.#jobs.set(id, job)
    job.timer.restart(this.#options.now())
    return job
  }

  #arm(): void {
    clearTimeout(this.#timer)
    if (this.#isEnding) return
    const times = [...this.#jobs.values()].flatMap(({ next }) => next ?? [])
    if (times.length === 0) return
    const wait = Math.min(...times) - this.#options.now()
    this.#timer = setTimeout(() => this.#tick(), Math.min(Math.max(wait, 1), LOOK_MS))
  }

  #tick(): void {
    const now = this.#options.now()
    this.#checkClock(now)
    for (const job of this.#jobs.values()) {
      const due = job.isSpent ? undefined : job.timer.take(now)
      if (due) this.#onDue(job, due)
    }
    this.#arm()
  }

  /**
   * Recomputes all next times after the clock was set back, so that entries fire again. A small correction
   * only delays the next fires.
   */
  #checkClock(now: number): void {
    const back = this.#clock.setBackBy(now)
    if (back === 0) return
    this.#options.log('warn', `the clock was set back by ${Math.round(back / 1000)} s`)
    for (const job of this.#jobs.values()) job.timer.restart(now)
  }

  #onDue(job: CronJob, due: ReturnType<CronJob['timer']['take']> & {}): void {
    const { entry } = job.timer
    const isRunning = job.isRunning
    if (job.accepts(due)) {
      const turn = this.#run(job, entry, due.due).finally(() => this.#running.delete(turn))
      this.#running.add(turn)
    } else if (!due.isOnTime) {
      this.#options.log('warn', `entry ${entry.id} was missed`, { entry: entry.id, times: due.missed })
    } else if (isRunning) {
      this.#options.log('info', `entry ${entry.id} is still running: skipped`, { entry: entry.id })
    }
    this.#writer.changed()
  }

  async #run(job: CronJob, entry: CronEntry, due: number): Promise<void> {
    job.begin(entry, this.#options.now())
    using _ = await this.#slots.take()
    const end = await this.#turn(job, entry).then(
      (fired) => ({ fired }),
      (reason: unknown) => ({ error: toCrabError(reason) }),
    )
    const { last, skipped } = job.end({ due, now: this.#options.now(), ...end })
    this.#logRun(entry, last, skipped)
    if (job.isSpent) await this.#retire(job)
    this.#writer.changed()
    this.#arm()
  }

  async #turn(job: CronJob, entry: CronEntry): Promise<FiredTurn> {
    try {
      if (this.#isEnding) throw endedError()
      // the claim must be on disk before the turn, or a crash would let it fire again
      if (entry.once) await this.#writer.flush()
    } catch (reason) {
      job.revertBegin()
      throw reason
    }
    return await this.#options.fire(entry, this.#cancel.signal)
  }

  /** Removes a `once` entry that has fired from the file, unless it was edited since. */
  async #retire(job: CronJob): Promise<void> {
    const { entry } = job.timer
    const { last } = job.state
    if (this.#retiring.has(job)) return
    this.#retiring.add(job)
    try {
      await this.#options.file.remove(entry.id, AbortSignal.timeout(CANCEL_MS), entry)
      this.#removalCount += 1
      if (!job.isSpent) return // a new entry with this id was read meanwhile
      this.#jobs.delete(entry.id)
      this.#removed.delete(entry.id)
      if (last) {
        const gone = { id: entry.id, content: cronContent(entry), agent: entry.agent, last }
        this.#gone = [gone, ...this.#gone].slice(0, MAX_REMOVED_ENTRIES)
      }
      this.#writer.changed()
    } catch (reason) {
      this.#warn(reason) // the entry does not fire again, and the next read of the file retries the removal
    } finally {
      this.#retiring.delete(job)
    }
  }

  #logRun(entry: CronEntry, { outcome, ended, due, error, run }: LastRun, skipped: number): void {
    const fields = { entry: entry.id, agent: entry.agent, ms: ended - due, ...(run && { run }) }
    const more = { ...fields, ...(skipped > 0 && { skipped }) }
    if (!error) this.#options.log('info', `entry ${entry.id} fired`, more)
    else {
      const level = outcome === 'failed' ? 'error' : 'warn'
      this.#options.log(level, `entry ${entry.id}: ${error.message}`, { ...more, ...error })
    }
  }

  #warn(reason: unknown): void {
    const { kind, message } = toCrabError(reason)
    this.#options.log('warn', message, { kind })
  }
}

function endedError(): CrabError {
  return new CrabError('cancelled', 'Cancelled: the scheduler ended')
}
