import { setTimeout as sleep } from 'node:timers/promises'
import { toCrabError } from '../../core/base/errors.ts'
import { newUlid } from '../../core/base/ids.ts'
import type { Log } from '../../core/base/log.ts'
import { endService, findTaggedProcess, readIdentity } from '../../core/process/service-process.ts'
import type { ExitStatus } from '../../core/process/types.ts'
import type { DesiredService } from './desired-state.ts'
import { isAlive, readRecord, type ServiceRecord, writeRecord } from './record.ts'
import { startRun } from './start-run.ts'

/** How often and how fast a service is started again (services.md). */
export interface RestartPolicy {
  /** Between a crash and the next start. */
  restartMs: number
  /** So many starts at most … */
  maxStarts: number
  /** … within this time; then it has failed. */
  windowMs: number
  /** What a service may take to end by itself. */
  graceMs: number
  /** How often a process that somebody else started is looked at. */
  lookMs: number
}

/** What the loop of a service knows of its place. */
export interface LoopContext {
  folder: string
  /** What every service gets, whoever started us. */
  env: Readonly<Record<string, string>>
  boot: string
  pace: RestartPolicy
  log: Log
  now(): number
  /** Whether the folder is still there: without it nothing is started. */
  isIntact(): boolean
}

/** A process that runs now. */
interface Run {
  pid: number
  identity: string
  mark: string
  /** Of one that another supervisor started nobody learns how it ended. */
  ended: Promise<ExitStatus>
  /** Nobody waits for its end any more. */
  drop(): void
}

/**
 * Keeps one service as it is wanted: starts it, starts it again when it crashed, ends it. What it does is a file at all
 * times, from which another process goes on when this one is killed.
 */
export class ServiceLoop {
  readonly name: string
  readonly #place: LoopContext
  #desired: DesiredService | undefined
  #record: ServiceRecord
  #run: Run | undefined
  #notBefore = 0
  #isLeaving = false
  #isRecorded = true
  #woken = Promise.withResolvers<void>()
  /** Resolves when there is nothing left to do, and nothing runs. Never rejects. */
  readonly finished: Promise<void>

  constructor(name: string, wanted: DesiredService | undefined, place: LoopContext) {
    this.name = name
    this.#place = place
    this.#desired = wanted
    this.#record = readRecord(place.folder, name) ?? { state: 'stopped', boot: '', restarts: 0, starts: [] }
    this.finished = this.#live().catch(async (reason: unknown) => {
      this.#say('error', toCrabError(reason).message)
      await sleep(place.pace.restartMs) // the system is short of something; who opens us anew goes on from the record
    })
  }

  /** Whether it ended so that it is not started again by itself. */
  get hasSettled(): boolean {
    return this.#record.isSettled === true
  }

  /** The id of what was asked last and done. */
  get lastRequest(): string | undefined {
    return this.#record.asked
  }

  /** What is wanted from now on; nothing ends it. */
  update(wanted: DesiredService | undefined): void {
    const isNews = wanted?.asked.id !== this.#desired?.asked.id
    this.#desired = wanted
    if (isNews) this.#wake()
  }

  /** Writes down again what could not be: the disk was full. */
  retryRecord(): void {
    if (!this.#isRecorded) this.#note({})
  }

  /** Ends the service, and what it is wanted for stays as it is. */
  shutdown(): void {
    this.#isLeaving = true
    this.#wake()
  }

  async #live(): Promise<void> {
    this.#run = await this.#adopt()
    for (;;) {
      const woken = this.#woken.promise
      const wanted = this.#isLeaving || !this.#place.isIntact() ? undefined : this.#desired
      if (!wanted) return await this.#end()
      if (this.#record.asked !== wanted.asked.id) await this.#apply(wanted)
      if (this.#run) {
        const status = await Promise.race([this.#run.ended, woken])
        if (status && (await this.#judge(status))) return
      } else if (performance.now() < this.#notBefore) {
        await this.#rest(woken)
      } else if (await this.#start(wanted)) {
        return
      }
    }
  }

  /** The process that ran under the last supervisor, if it still does. */
  async #adopt(): Promise<Run | undefined> {
    if (this.#record.boot !== this.#place.boot) return undefined // nothing outlives a machine
    const { mark, pid = mark === undefined ? undefined : await findTaggedProcess(mark) } = this.#record
    const identity = this.#record.identity ?? (pid === undefined ? undefined : await readIdentity(pid))
    if (mark === undefined || pid === undefined || identity === undefined) return undefined
    if (!(await isAlive({ pid, identity }))) {
      await endService({ pid, identity, mark }, 0) // what it left
      return undefined
    }
    this.#say('info', `Goes on with process ${pid}`)
    this.#note({ state: 'running', pid, identity })
    const over = new AbortController()
    return {
      pid,
      identity,
      mark,
      ended: this.#watch({ pid, identity }, over.signal),
      drop: () => over.abort(),
    }
  }

  async #watch(process: { pid: number; identity: string }, signal: AbortSignal): Promise<ExitStatus> {
    while (!signal.aborted && (await isAlive(process))) {
      await sleep(this.#place.pace.lookMs, undefined, { signal }).catch(() => undefined) // then nobody asks any more
    }
    return { code: null, signal: null }
  }

  /** Does what was asked: what was counted before counts no more. */
  async #apply({ asked }: DesiredService): Promise<void> {
    if (asked.how === 'restart') await this.#endRun()
    this.#notBefore = 0
    const anew = { state: 'starting' as const, restarts: 0, starts: [], lastExit: undefined } // whoever asked waits for more
    this.#note({ asked: asked.id, isSettled: false, ...(this.#run ? {} : anew) })
  }

  /** True when it could not be started, and is not tried again. */
  async #start(wanted: DesiredService): Promise<boolean> {
    const place = this.#place
    const isAgain = this.#record.lastExit !== undefined
    const mark = newUlid()
    this.#note({
      state: 'starting',
      mark,
      pid: undefined,
      identity: undefined,
      since: place.now(),
      starts: [...this.#recentStarts(), place.now()],
      restarts: this.#record.restarts + (isAgain ? 1 : 0),
    })
    try {
      const { pid, exited } = await startRun(wanted, { mark, env: place.env })
      const identity = (await readIdentity(pid)) ?? 'ended'
      this.#run = { pid, identity, mark, ended: exited, drop: () => undefined }
      this.#note({ state: 'running', pid, identity })
      this.#say('info', `Started as process ${pid}`)
      return false
    } catch (reason) {
      this.#say('error', toCrabError(reason).message)
      return await this.#judge({ code: EXEC_FAILED, signal: null })
    }
  }

  /** What the end of a run means; true when it is not started again. */
  async #judge(status: ExitStatus): Promise<boolean> {
    const run = this.#run
    this.#run = undefined
    if (run) await endService(run, 0) // what it left
    const { restartMs, maxStarts } = this.#place.pace
    const how = describeStatus(status)
    this.#record.lastExit = { code: status.code, signal: status.signal }
    if (isClean(status)) {
      this.#say('info', `Ended (${how})`)
      this.#note({ state: 'stopped', isSettled: true })
      return true
    }
    const isLast = this.#recentStarts().length >= maxStarts
    if (isLast || status.code === CONFIG_INVALID) {
      this.#say('error', isLast ? `Crashed (${how}), and ${maxStarts} starts are enough` : `Ended (${how})`)
      this.#note({ state: 'failed', isSettled: true })
      return true
    }
    this.#say('warn', `Crashed (${how}), starts again in ${restartMs / 1000} s`)
    this.#notBefore = performance.now() + restartMs
    this.#note({ state: 'waiting' })
    return false
  }

  async #end(): Promise<void> {
    const hadRun = this.#run !== undefined
    await this.#endRun()
    this.#note({ state: 'stopped', isSettled: false })
    if (hadRun) this.#say('info', 'Stopped')
  }

  async #endRun(): Promise<void> {
    const run = this.#run
    if (!run) return
    this.#note({ state: 'stopping' })
    await endService(run, this.#place.pace.graceMs)
    run.drop()
    this.#run = undefined
    const status = await Promise.race([run.ended, sleep(0)])
    if (status) this.#record.lastExit = { code: status.code, signal: status.signal }
  }

  async #rest(woken: Promise<void>): Promise<void> {
    const over = new AbortController()
    const leftMs = this.#notBefore - performance.now()
    const rest = sleep(leftMs, undefined, { signal: over.signal }).catch(() => undefined) // somebody woke us
    await Promise.race([rest, woken])
    over.abort()
  }

  #recentStarts(): number[] {
    const { now, pace } = this.#place
    return this.#record.starts.filter((start) => Math.abs(now() - start) < pace.windowMs)
  }

  #note(change: { [K in keyof ServiceRecord]?: ServiceRecord[K] | undefined }): void {
    this.#record = { ...this.#record, ...change, boot: this.#place.boot } as ServiceRecord
    if (this.#place.isIntact()) this.#isRecorded = writeRecord(this.#place.folder, this.name, this.#record)
  }

  #say(level: 'info' | 'warn' | 'error', message: string): void {
    this.#place.log(level, message, { service: this.name })
  }

  #wake(): void {
    const { resolve } = this.#woken
    this.#woken = Promise.withResolvers()
    resolve()
  }
}

/** As systemd's `on-failure`, with 143 for a program that turns TERM into it. */
function isClean({ code, signal }: ExitStatus): boolean {
  if (code !== null) return code === 0 || code === 143
  return signal !== null && CLEAN_SIGNALS.has(signal)
}

function describeStatus({ code, signal }: ExitStatus): string {
  if (code !== null) return `exit ${code}`
  return signal ?? 'nobody saw how'
}

const CLEAN_SIGNALS: ReadonlySet<string> = new Set(['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGPIPE'])
/** sysexits: as long as nobody mends the configuration, another start ends the same. */
const CONFIG_INVALID = 78
/** What a service manager calls a program that cannot be started. */
const EXEC_FAILED = 203
