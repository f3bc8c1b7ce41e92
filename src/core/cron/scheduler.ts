import { CrabError, toCrabError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { ClockWatch } from './clock-watch.ts'
import { type Cron, type CronEntry, cronContent } from './cron-entry.ts'
import type { CronFile, LoadedCrons } from './cron-file.ts'
import { CronJob } from './cron-job.ts'
import { type CronState, type EntryState, type LastRun, MAX_REMOVED_ENTRIES } from './cron-state.ts'
import { type FiredTurn, toRunFailure } from './last-run.ts'
import { problemLines } from './problem-lines.ts'
import { Semaphore } from './semaphore.ts'
import { StateWriter } from './state-writer.ts'

export interface SchedulerOptions {
  file: Pick<CronFile, 'read' | 'remove'>
  /** What an earlier scheduler left. */
  state: CronState
  /** Runs the turn of an entry to its end; throws what it failed with. */
  fire(entry: CronEntry, signal: AbortSignal): Promise<FiredTurn>
  save(state: CronState): Promise<void>
  log: Log
  /** Milliseconds since 1970, by a clock that people may set. */
  now(): number
  /** Milliseconds of a clock that only goes forward. */
  elapsed(): number
}

/** Turns at a time; further ones wait. */
const MOST_TURNS = 16
/** Longest time between two looks at the clock: it may be set, and the machine may sleep. */
const LOOK_MS = 2000
/** How long turns that were cancelled may take to end. */
const CANCEL_MS = 5000

/**
 * Fires the entries of a file at their times, until it is ended. An entry never overlaps itself: what is due while a turn of it
 * runs is skipped. What was missed (the machine slept, its clock was set forward) is not caught up.
 */
export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #jobs = new Map<number, CronJob>()
  /** Those whose entries have gone: editors write files in two steps, and people undo. */
  readonly #left = new Map<number, CronJob>()
  readonly #retiring = new Set<CronJob>()
  readonly #running = new Set<Promise<void>>()
  readonly #slots = new Semaphore(MOST_TURNS)
  readonly #cancel = new AbortController()
  readonly #writer: StateWriter
  readonly #clock: ClockWatch
  /** What an earlier scheduler knew, until its entries could be read. */
  #before: ReadonlyMap<number, EntryState>
  #gone: CronState['gone']
  #highest: number
  /** How many entries it took out of the file. */
  #takenOut = 0
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

  /** Turns that run, or wait for a slot. */
  get turns(): number {
    return this.#running.size
  }

  /** Brings the entries in line with the file; one after another, however often it is asked for. Never fails. */
  reconcile(): Promise<void> {
    this.#mustReadAgain = true
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  /** Looks for all next times anew, as clocks here show another time than before; what is due by then is missed. */
  restart(): void {
    for (const job of this.#jobs.values()) job.timer.restart(this.#options.now())
    this.#writer.changed()
    this.#arm()
  }

  /** Fires nothing any more; lets turns end for so long, then cancels them; resolves when all is written. Never fails. */
  async end(graceMs: number): Promise<void> {
    this.#isEnding = true
    clearTimeout(this.#timer)
    await this.#settled(graceMs)
    this.#cancel.abort(ended())
    await this.#settled(CANCEL_MS)
    await this.#writer.flush().catch((reason: unknown) => this.#warn(reason))
  }

  async #readAll(): Promise<void> {
    while (this.#mustReadAgain && !this.#isEnding) {
      this.#mustReadAgain = false
      const takenOut = this.#takenOut
      const standing = await this.#options.file.read()
      if (takenOut !== this.#takenOut)
        this.#mustReadAgain = true // it may have been read before
      else if (standing !== this.#loaded) this.#take(standing)
      for (const job of this.#jobs.values()) {
        if (job.isSpent && !job.isRunning) await this.#retire(job)
      }
    }
  }

  #take(standing: LoadedCrons): void {
    const { log, now } = this.#options
    const told = new Set(this.#loaded ? problemLines(this.#loaded) : [])
    for (const line of problemLines(standing)) if (!told.has(line)) log('warn', line)
    this.#loaded = standing
    const wanted = new Map(standing.crons.map((cron) => [cron.entry.id, cron]))
    for (const id of this.#jobs.keys()) if (!wanted.has(id)) this.#leave(id)
    for (const [id, cron] of wanted) {
      const job = this.#jobs.get(id) ?? this.#back(id)
      if (job?.timer.update(cron, now())) log('info', `entry ${id} was changed`, { entry: id })
      if (!job) this.#begin(cron)
    }
    if (!standing.broken) this.#before = new Map()
    this.#highest = Math.max(this.#highest, ...wanted.keys())
    log('info', `${wanted.size} ${wanted.size === 1 ? 'entry' : 'entries'}`)
    this.#writer.changed()
    this.#arm()
  }

  #begin(cron: Cron): void {
    const { entry } = cron
    const before = this.#before.get(entry.id)
    const job = new CronJob(cron, before, this.#options.now())
    this.#jobs.set(entry.id, job)
    if (before?.running !== undefined && job.state.last) this.#tell(entry, job.state.last, 0)
  }

  #leave(id: number): void {
    this.#left.set(id, this.#jobs.get(id)!)
    this.#jobs.delete(id)
  }

  /** An entry that was there before, if it was; what it missed meanwhile is nobody's. */
  #back(id: number): CronJob | undefined {
    const job = this.#left.get(id)
    if (!job) return undefined
    this.#left.delete(id)
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
    this.#timer = setTimeout(() => this.#look(), Math.min(Math.max(wait, 1), LOOK_MS))
  }

  #look(): void {
    const now = this.#options.now()
    this.#heedClock(now)
    for (const job of this.#jobs.values()) {
      const due = job.isSpent ? undefined : job.timer.take(now)
      if (due) this.#due(job, due)
    }
    this.#arm()
  }

  /** What is due again because the clock was set back fires again; a small correction only delays what comes. */
  #heedClock(now: number): void {
    const back = this.#clock.setBackBy(now)
    if (back === 0) return
    this.#options.log('warn', `the clock was set back by ${Math.round(back / 1000)} s`)
    for (const job of this.#jobs.values()) job.timer.restart(now)
  }

  #due(job: CronJob, due: ReturnType<CronJob['timer']['take']> & {}): void {
    const { entry } = job.timer
    const isRunning = job.isRunning
    if (job.accepts(due)) {
      const turn = this.#run(job, entry, due.due).finally(() => this.#running.delete(turn))
      this.#running.add(turn)
    } else if (!due.isOnTime) {
      this.#options.log('warn', `entry ${entry.id} was missed`, { entry: entry.id, times: due.missed })
    } else if (isRunning) {
      this.#options.log('info', `entry ${entry.id} still runs: skipped`, { entry: entry.id })
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
    this.#tell(entry, last, skipped)
    if (job.isSpent) await this.#retire(job)
    this.#writer.changed()
    this.#arm()
  }

  async #turn(job: CronJob, entry: CronEntry): Promise<FiredTurn> {
    try {
      if (this.#isEnding) throw ended()
      if (entry.once) await this.#writer.flush() // else nobody would know that it has fired
    } catch (reason) {
      job.takeBack()
      throw reason
    }
    return await this.#options.fire(entry, this.#cancel.signal)
  }

  /** Takes what has fired once out of the file, unless somebody has made another entry of it. */
  async #retire(job: CronJob): Promise<void> {
    const { entry } = job.timer
    const { last } = job.state
    if (this.#retiring.has(job)) return
    this.#retiring.add(job)
    try {
      await this.#options.file.remove(entry.id, AbortSignal.timeout(CANCEL_MS), entry)
      this.#takenOut += 1
      if (!job.isSpent) return // another entry of that id was read meanwhile
      this.#jobs.delete(entry.id)
      this.#left.delete(entry.id)
      if (last) {
        const gone = { id: entry.id, content: cronContent(entry), agent: entry.agent, last }
        this.#gone = [gone, ...this.#gone].slice(0, MAX_REMOVED_ENTRIES)
      }
      this.#writer.changed()
    } catch (reason) {
      this.#warn(reason) // it does not fire again; the next look at the file tries again
    } finally {
      this.#retiring.delete(job)
    }
  }

  #tell(entry: CronEntry, { outcome, ended, due, error, run }: LastRun, skipped: number): void {
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

  /** Waits until nothing runs, at most so long. */
  async #settled(ms: number): Promise<void> {
    if (this.#running.size === 0) return
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, ms)
    await Promise.race([Promise.all(this.#running), late.promise])
    clearTimeout(timer)
  }
}

function ended(): CrabError {
  return new CrabError('cancelled', 'Cancelled: the scheduler ended')
}
