import { type FSWatcher, statSync, watch } from 'node:fs'
import { toCrabError } from '../../core/base/errors.ts'
import { makePrivateDir } from '../../core/base/files.ts'
import type { Log } from '../../core/base/log.ts'
import { VERSION } from '../../core/base/version.ts'
import { tryLock } from '../../core/lease/owner-lock.ts'
import { bootId, readIdentity } from '../../core/process/service-process.ts'
import { isDesiredFile, listServiceNames, lockPath, readDesired } from './desired-state.ts'
import { readRecord, writeSupervisorRecord } from './record.ts'
import { type LoopContext, type RestartPolicy, ServiceLoop } from './service-loop.ts'

/** The options of supervise(). */
export interface SupervisorOptions {
  /** The result of servicesFolder() for the home. */
  folder: string
  /** The id of this process. */
  pid: number
  /** The variables that every service inherits: the result of cleanEnvironment(). */
  env: Readonly<Record<string, string>>
  /** The only service to supervise; all of them by default. */
  only?: string | undefined
  log: Log
  now(): number
  pace?: Partial<RestartPolicy>
}

/**
 * Keeps the services of a home in their desired state until none is desired, the folder is removed, or the
 * signal is aborted, which stops them all. Resolves to false immediately when another process is already
 * supervising them. If this process is killed, its services continue to run, and the next supervisor adopts
 * them.
 */
export async function supervise(options: SupervisorOptions, signal: AbortSignal): Promise<boolean> {
  const { folder, only } = options
  await makePrivateDir(folder)
  const supervisor = new Supervisor(options, await bootId())
  for (;;) {
    const lock = tryLock(lockPath(folder, only))
    if (!lock) return false
    try {
      await supervisor.work(signal)
    } finally {
      lock.close()
    }
    // A service that became desired while this process held the lock was left to it by all others.
    if (signal.aborted || !supervisor.isIntact() || supervisor.due().length === 0) return true
  }
}

class Supervisor {
  readonly #options: SupervisorOptions
  readonly #context: LoopContext
  readonly #loops = new Map<string, ServiceLoop>()
  /** The last requests of settled services, for when the record cannot be written. */
  readonly #settled = new Map<string, string | undefined>()
  #lock: bigint | undefined
  #isAnnounced = false
  #isChanged = false
  #changed = Promise.withResolvers<void>()

  constructor(options: SupervisorOptions, boot: string) {
    this.#options = options
    const { folder, env, log, now, pace } = options
    this.#context = {
      ...{ folder, env, log, now, boot },
      pace: { ...PACE, ...pace },
      isIntact: () => this.isIntact(),
    }
  }

  /** Whether the home still exists and is the same one. */
  isIntact(): boolean {
    return this.#lock !== undefined && this.#inode() === this.#lock
  }

  /** Supervises all services until none is left. */
  async work(signal: AbortSignal): Promise<void> {
    const { folder, only, log } = this.#options
    this.#lock = this.#inode()
    const onChange = () => this.#change()
    const watcher = this.#watch(onChange)
    const tick = setInterval(onChange, watcher ? TICK_MS : TICK_MS / 10)
    signal.addEventListener('abort', onChange, { once: true })
    try {
      await this.#announce()
      log('info', 'Supervising services')
      await this.#workUntilDone(signal)
      log('info', 'No services left to supervise')
    } finally {
      clearInterval(tick)
      watcher?.close()
      signal.removeEventListener('abort', onChange)
      if (this.isIntact()) writeSupervisorRecord(folder, only, undefined)
    }
  }

  async #workUntilDone(signal: AbortSignal): Promise<void> {
    for (;;) {
      this.#isChanged = false
      this.#changed = Promise.withResolvers()
      if (signal.aborted || !this.isIntact()) return await this.#shutdown()
      if (!this.#isAnnounced) await this.#announce() // the disk was full
      for (const name of this.due()) this.#open(name)
      this.#updateLoops()
      if (this.#loops.size === 0 && !this.#isChanged) return
      await this.#changed.promise
    }
  }

  async #announce(): Promise<void> {
    const { folder, only, pid } = this.#options
    const owner = { pid, identity: (await readIdentity(pid)) ?? '', version: VERSION }
    this.#isAnnounced = writeSupervisorRecord(folder, only, owner)
  }

  /** Lists the services that need work and have no loop. */
  due(): string[] {
    const { folder, only } = this.#options
    const { desired, known } = listServiceNames(folder)
    const isOurs = (name: string) => !this.#loops.has(name) && (only === undefined || only === name)
    const starts = desired.filter((name) => isOurs(name) && this.#isToStart(name))
    const others = known.filter((name) => isOurs(name) && !desired.includes(name) && !hasEnded(folder, name))
    return [...starts, ...others]
  }

  #isToStart(name: string): boolean {
    const { folder } = this.#options
    const desired = readDesired(folder, name)
    if (!desired) return false
    const { asked } = desired
    const record = readRecord(folder, name)
    const isSettled =
      record?.isSettled === true && record.boot === this.#context.boot && record.asked === asked.id
    return !isSettled && this.#settled.get(name) !== asked.id
  }

  #open(name: string): void {
    const loop = new ServiceLoop(name, readDesired(this.#options.folder, name), this.#context)
    this.#loops.set(name, loop)
    void loop.finished.then(() => {
      this.#loops.delete(name)
      if (loop.hasSettled) this.#settled.set(name, loop.lastRequest)
      this.#change()
    })
  }

  /** Returns undefined when the system has no file watches left; the interval takes over. */
  #watch(onChange: () => void): FSWatcher | undefined {
    try {
      const watcher = watch(this.#options.folder, (_event, file) => {
        if (file === null || isDesiredFile(file) || !this.isIntact()) onChange()
      })
      return watcher.on('error', onChange) // the interval polls the same files
    } catch (reason) {
      this.#options.log('warn', `Cannot watch for changes: ${toCrabError(reason).message}`)
      return undefined
    }
  }

  /** Updates the loops. A file that was damaged by hand keeps its previous meaning. */
  #updateLoops(): void {
    const { folder } = this.#options
    const { desired } = listServiceNames(folder)
    for (const [name, loop] of this.#loops) {
      const now = readDesired(folder, name)
      if (now || !desired.includes(name)) loop.update(now)
      loop.retryRecord()
    }
  }

  #inode(): bigint | undefined {
    const { folder, only } = this.#options
    return statSync(lockPath(folder, only), { bigint: true, throwIfNoEntry: false })?.ino
  }

  async #shutdown(): Promise<void> {
    const loops = [...this.#loops.values()]
    for (const loop of loops) loop.shutdown()
    await Promise.all(loops.map(({ finished }) => finished))
  }

  #change(): void {
    this.#isChanged = true
    this.#changed.resolve()
  }
}

/** Whether a service has ended, according to its last record. */
function hasEnded(folder: string, name: string): boolean {
  const { state = 'stopped' } = readRecord(folder, name) ?? {}
  return state === 'stopped' || state === 'failed'
}

/** The default restart policy (ADR 0132). */
const PACE: RestartPolicy = {
  restartMs: 3000,
  maxStarts: 10,
  windowMs: 300_000,
  graceMs: 30_000,
  lookMs: 1000,
}
/** The polling interval of the folder, in case the watcher reports nothing. */
const TICK_MS = 5000
