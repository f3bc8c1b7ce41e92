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

export interface SupervisorOptions {
  /** servicesFolder() of the home. */
  folder: string
  /** Of this process. */
  pid: number
  /** What every service gets: cleanEnvironment(). */
  env: Readonly<Record<string, string>>
  /** The one service to look after; by default all. */
  only?: string | undefined
  log: Log
  now(): number
  pace?: Partial<RestartPolicy>
}

/**
 * Keeps the services of a home running, as the files of its folder want them, until none of them is wanted any more, the
 * folder is removed, or the signal is aborted, which ends them all. Gives false at once when another process does it
 * already. What runs when this process is killed runs on, and the next one goes on with it.
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
    // What came to be wanted while the lock was held was nobody else's to start.
    if (signal.aborted || !supervisor.isIntact() || supervisor.due().length === 0) return true
  }
}

class Supervisor {
  readonly #options: SupervisorOptions
  readonly #place: LoopContext
  readonly #loops = new Map<string, ServiceLoop>()
  /** What was asked of services that have settled, where no file can say it. */
  readonly #settled = new Map<string, string | undefined>()
  #lock: bigint | undefined
  #isAnnounced = false
  #isChanged = false
  #changed = Promise.withResolvers<void>()

  constructor(options: SupervisorOptions, boot: string) {
    this.#options = options
    const { folder, env, log, now, pace } = options
    this.#place = {
      ...{ folder, env, log, now, boot },
      pace: { ...PACE, ...pace },
      isIntact: () => this.isIntact(),
    }
  }

  /** Whether the home is still there, and still the same. */
  isIntact(): boolean {
    return this.#lock !== undefined && this.#inode() === this.#lock
  }

  /** Looks after all services until there is none to look after. */
  async work(signal: AbortSignal): Promise<void> {
    const { folder, only, log } = this.#options
    this.#lock = this.#inode()
    const onChange = () => this.#change()
    const watcher = this.#watch(onChange)
    const tick = setInterval(onChange, watcher ? TICK_MS : TICK_MS / 10)
    signal.addEventListener('abort', onChange, { once: true })
    try {
      await this.#announce()
      log('info', 'Looks after services')
      await this.#workUntilDone(signal)
      log('info', 'Has nothing left to look after')
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
      if (signal.aborted || !this.isIntact()) return await this.#leave()
      if (!this.#isAnnounced) await this.#announce() // the disk was full
      for (const name of this.due()) this.#open(name)
      this.#tellLoops()
      if (this.#loops.size === 0 && !this.#isChanged) return
      await this.#changed.promise
    }
  }

  async #announce(): Promise<void> {
    const { folder, only, pid } = this.#options
    const owner = { pid, identity: (await readIdentity(pid)) ?? '', version: VERSION }
    this.#isAnnounced = writeSupervisorRecord(folder, only, owner)
  }

  /** Which services something must be done for that nobody looks after. */
  due(): string[] {
    const { folder, only } = this.#options
    const { wanted, known } = listServiceNames(folder)
    const isOurs = (name: string) => !this.#loops.has(name) && (only === undefined || only === name)
    const starts = wanted.filter((name) => isOurs(name) && this.#isToStart(name))
    const others = known.filter((name) => isOurs(name) && !wanted.includes(name) && !hasEnded(folder, name))
    return [...starts, ...others]
  }

  #isToStart(name: string): boolean {
    const { folder } = this.#options
    const wanted = readDesired(folder, name)
    if (!wanted) return false
    const { asked } = wanted
    const record = readRecord(folder, name)
    const isSettled =
      record?.isSettled === true && record.boot === this.#place.boot && record.asked === asked.id
    return !isSettled && this.#settled.get(name) !== asked.id
  }

  #open(name: string): void {
    const loop = new ServiceLoop(name, readDesired(this.#options.folder, name), this.#place)
    this.#loops.set(name, loop)
    void loop.finished.then(() => {
      this.#loops.delete(name)
      if (loop.hasSettled) this.#settled.set(name, loop.lastRequest)
      this.#change()
    })
  }

  /** Undefined where the system has no watch left to give: then the tick does it. */
  #watch(onChange: () => void): FSWatcher | undefined {
    try {
      const watcher = watch(this.#options.folder, (_event, file) => {
        if (file === null || isDesiredFile(file) || !this.isIntact()) onChange()
      })
      return watcher.on('error', onChange) // the tick looks at the same
    } catch (reason) {
      this.#options.log('warn', `Cannot watch for changes: ${toCrabError(reason).message}`)
      return undefined
    }
  }

  /** A file that somebody broke by hand means what it meant before. */
  #tellLoops(): void {
    const { folder } = this.#options
    const { wanted } = listServiceNames(folder)
    for (const [name, loop] of this.#loops) {
      const now = readDesired(folder, name)
      if (now || !wanted.includes(name)) loop.update(now)
      loop.retryRecord()
    }
  }

  #inode(): bigint | undefined {
    const { folder, only } = this.#options
    return statSync(lockPath(folder, only), { bigint: true, throwIfNoEntry: false })?.ino
  }

  async #leave(): Promise<void> {
    const loops = [...this.#loops.values()]
    for (const loop of loops) loop.shutdown()
    await Promise.all(loops.map(({ finished }) => finished))
  }

  #change(): void {
    this.#isChanged = true
    this.#changed.resolve()
  }
}

/** Whether nothing of a service is left, as far as the last supervisor wrote it down. */
function hasEnded(folder: string, name: string): boolean {
  const { state = 'stopped' } = readRecord(folder, name) ?? {}
  return state === 'stopped' || state === 'failed'
}

/** services.md. */
const PACE: RestartPolicy = {
  restartMs: 3000,
  maxStarts: 10,
  windowMs: 300_000,
  graceMs: 30_000,
  lookMs: 1000,
}
/** How often the folder is looked at, should nothing tell of a change. */
const TICK_MS = 5000
