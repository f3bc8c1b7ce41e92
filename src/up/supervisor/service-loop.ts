import { setTimeout as sleep } from 'node:timers/promises'
import { toCrabError } from '../../core/base/errors.ts'
import { newUlid } from '../../core/base/ids.ts'
import type { Log } from '../../core/base/log.ts'
import { endService, findTaggedProcess, readIdentity } from '../../core/process/service-process.ts'
import type { ExitStatus } from '../../core/process/types.ts'
import type { DesiredService } from './desired-state.ts'
import { isAlive, readRecord, type ServiceRecord, writeRecord } from './record.ts'
import { startRun } from './start-run.ts'

/** The timing and limits of restarts (ADR 0132). */
export interface RestartPolicy {
  /** The delay between a crash and the next start. */
  restartMs: number
  /** The number of starts allowed within `windowMs`; after that the service has failed. */
  maxStarts: number
  /** The time window for counting starts. */
  windowMs: number
  /** The time a service may take to end by itself before it is killed. */
  graceMs: number
  /** The polling interval for a process that was adopted from another supervisor. */
  lookMs: number
}

/** The environment of a service loop. */
export interface LoopContext {
  folder: string
  /** The variables that every service inherits, independent of how the supervisor was started. */
  env: Readonly<Record<string, string>>
  boot: string
  pace: RestartPolicy
  log: Log
  now(): number
  /** Whether the folder still exists; nothing is started without it. */
  isIntact(): boolean
}

/** A running process. */
interface Run {
  pid: number
  identity: string
  serviceTag: string
  /**
   * Resolves with the exit status; an adopted process resolves without code and signal, because its status is
   * unknown.
   */
  ended: Promise<ExitStatus>
  /** Stops waiting for the end of the process. */
  drop(): void
}

/**
 * Keeps one service in its desired state: starts it, restarts it after a crash, stops it. Its state is always
 * in a file, from which another process continues when this one is killed.
 */
export class ServiceLoop {
  readonly name: string
  readonly #context: LoopContext
  #desired: DesiredService | undefined
  #record: ServiceRecord
  #run: Run | undefined
  #notBefore = 0
  #isLeaving = false
  #isRecorded = true
  #woken = Promise.withResolvers<void>()
  /** Resolves when nothing is left to do and nothing runs. Never rejects. */
  readonly finished: Promise<void>

  constructor(name: string, desired: DesiredService | undefined, context: LoopContext) {
    this.name = name
    this.#context = context
    this.#desired = desired
    this.#record = readRecord(context.folder, name) ?? { state: 'stopped', boot: '', restarts: 0, starts: [] }
    this.finished = this.#runLoop().catch(async (reason: unknown) => {
      this.#log('error', toCrabError(reason).message)
      // The system is short of a resource; the next loop for this service continues from the record.
      await sleep(context.pace.restartMs)
    })
  }

  /** Whether the service ended in a way that prevents an automatic restart. */
  get hasSettled(): boolean {
    return this.#record.isSettled === true
  }

  /** The id of the last request that was carried out. */
  get lastRequest(): string | undefined {
    return this.#record.asked
  }

  /** Changes the desired state; undefined stops the service. */
  update(desired: DesiredService | undefined): void {
    const isNewRequest = desired?.asked.id !== this.#desired?.asked.id
    this.#desired = desired
    if (isNewRequest) this.#wake()
  }

  /** Retries writing a record that could not be written because the disk was full. */
  retryRecord(): void {
    if (!this.#isRecorded) this.#updateRecord({})
  }

  /** Stops the service without changing its desired state. */
  shutdown(): void {
    this.#isLeaving = true
    this.#wake()
  }

  async #runLoop(): Promise<void> {
    this.#run = await this.#adopt()
    for (;;) {
      const woken = this.#woken.promise
      const desired = this.#isLeaving || !this.#context.isIntact() ? undefined : this.#desired
      if (!desired) return await this.#end()
      if (this.#record.asked !== desired.asked.id) await this.#apply(desired)
      if (this.#run) {
        const status = await Promise.race([this.#run.ended, woken])
        if (status && (await this.#handleExit(status))) return
      } else if (performance.now() < this.#notBefore) {
        await this.#waitForRestart(woken)
      } else if (await this.#start(desired)) {
        return
      }
    }
  }

  /** Adopts the process that the previous supervisor started, if it is still running. */
  async #adopt(): Promise<Run | undefined> {
    if (this.#record.boot !== this.#context.boot) return undefined // no process survives a reboot
    const { mark, pid = mark === undefined ? undefined : await findTaggedProcess(mark) } = this.#record
    const identity = this.#record.identity ?? (pid === undefined ? undefined : await readIdentity(pid))
    if (mark === undefined || pid === undefined || identity === undefined) return undefined
    if (!(await isAlive({ pid, identity }))) {
      await endService({ pid, identity, serviceTag: mark }, 0) // ends the children it left behind
      return undefined
    }
    this.#log('info', `Adopted process ${pid}`)
    this.#updateRecord({ state: 'running', pid, identity })
    const stop = new AbortController()
    return {
      pid,
      identity,
      serviceTag: mark,
      ended: this.#watch({ pid, identity }, stop.signal),
      drop: () => stop.abort(),
    }
  }

  async #watch(process: { pid: number; identity: string }, signal: AbortSignal): Promise<ExitStatus> {
    while (!signal.aborted && (await isAlive(process))) {
      // An abort ends the wait; the result is no longer needed.
      await sleep(this.#context.pace.lookMs, undefined, { signal }).catch(() => undefined)
    }
    return { code: null, signal: null }
  }

  /** Carries out a new request; earlier crashes no longer count. */
  async #apply({ asked }: DesiredService): Promise<void> {
    if (asked.how === 'restart') await this.#endRun()
    this.#notBefore = 0
    // The requester waits for a new state.
    const reset = { state: 'starting' as const, restarts: 0, starts: [], lastExit: undefined }
    this.#updateRecord({ asked: asked.id, isSettled: false, ...(this.#run ? {} : reset) })
  }

  /** Returns true when the service could not be started and is not tried again. */
  async #start(desired: DesiredService): Promise<boolean> {
    const context = this.#context
    const isAgain = this.#record.lastExit !== undefined
    const serviceTag = newUlid()
    this.#updateRecord({
      state: 'starting',
      mark: serviceTag,
      pid: undefined,
      identity: undefined,
      since: context.now(),
      starts: [...this.#recentStarts(), context.now()],
      restarts: this.#record.restarts + (isAgain ? 1 : 0),
    })
    try {
      const { pid, exited } = await startRun(desired, { serviceTag, env: context.env })
      const identity = (await readIdentity(pid)) ?? 'ended'
      this.#run = { pid, identity, serviceTag, ended: exited, drop: () => undefined }
      this.#updateRecord({ state: 'running', pid, identity })
      this.#log('info', `Started as process ${pid}`)
      return false
    } catch (reason) {
      this.#log('error', toCrabError(reason).message)
      return await this.#handleExit({ code: EXEC_FAILED, signal: null })
    }
  }

  /** Decides what follows from the end of a run; returns true when the service is not restarted. */
  async #handleExit(status: ExitStatus): Promise<boolean> {
    const run = this.#run
    this.#run = undefined
    if (run) await endService(run, 0) // ends the children it left behind
    const { restartMs, maxStarts } = this.#context.pace
    const how = describeStatus(status)
    this.#record.lastExit = { code: status.code, signal: status.signal }
    if (isClean(status)) {
      this.#log('info', `Ended (${how})`)
      this.#updateRecord({ state: 'stopped', isSettled: true })
      return true
    }
    const isLast = this.#recentStarts().length >= maxStarts
    if (isLast || status.code === CONFIG_INVALID) {
      this.#log(
        'error',
        isLast ? `Crashed (${how}), and gave up after ${maxStarts} starts` : `Ended (${how})`,
      )
      this.#updateRecord({ state: 'failed', isSettled: true })
      return true
    }
    this.#log('warn', `Crashed (${how}), restarts in ${restartMs / 1000} s`)
    this.#notBefore = performance.now() + restartMs
    this.#updateRecord({ state: 'waiting' })
    return false
  }

  async #end(): Promise<void> {
    const hadRun = this.#run !== undefined
    await this.#endRun()
    this.#updateRecord({ state: 'stopped', isSettled: false })
    if (hadRun) this.#log('info', 'Stopped')
  }

  async #endRun(): Promise<void> {
    const run = this.#run
    if (!run) return
    this.#updateRecord({ state: 'stopping' })
    await endService(run, this.#context.pace.graceMs)
    run.drop()
    this.#run = undefined
    const status = await Promise.race([run.ended, sleep(0)])
    if (status) this.#record.lastExit = { code: status.code, signal: status.signal }
  }

  async #waitForRestart(woken: Promise<void>): Promise<void> {
    const stop = new AbortController()
    const leftMs = this.#notBefore - performance.now()
    const delay = sleep(leftMs, undefined, { signal: stop.signal }).catch(() => undefined) // aborted by a wake-up
    await Promise.race([delay, woken])
    stop.abort()
  }

  #recentStarts(): number[] {
    const { now, pace } = this.#context
    return this.#record.starts.filter((start) => Math.abs(now() - start) < pace.windowMs)
  }

  #updateRecord(change: { [K in keyof ServiceRecord]?: ServiceRecord[K] | undefined }): void {
    this.#record = { ...this.#record, ...change, boot: this.#context.boot } as ServiceRecord
    if (this.#context.isIntact())
      this.#isRecorded = writeRecord(this.#context.folder, this.name, this.#record)
  }

  #log(level: 'info' | 'warn' | 'error', message: string): void {
    this.#context.log(level, message, { service: this.name })
  }

  #wake(): void {
    const { resolve } = this.#woken
    this.#woken = Promise.withResolvers()
    resolve()
  }
}

/** Matches systemd's `on-failure`, and accepts 143 from a program that turns SIGTERM into an exit code. */
function isClean({ code, signal }: ExitStatus): boolean {
  if (code !== null) return code === 0 || code === 143
  return signal !== null && CLEAN_SIGNALS.has(signal)
}

function describeStatus({ code, signal }: ExitStatus): string {
  if (code !== null) return `exit ${code}`
  return signal ?? 'exit status unknown'
}

const CLEAN_SIGNALS: ReadonlySet<string> = new Set(['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGPIPE'])
/** EX_CONFIG of sysexits: a restart ends the same way until the configuration is fixed. */
const CONFIG_INVALID = 78
/** The code that systemd uses for a program that cannot be executed (EXIT_EXEC). */
const EXEC_FAILED = 203
