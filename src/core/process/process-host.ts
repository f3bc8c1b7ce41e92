import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../base/errors.ts'
import { type Lazy, lazy } from '../base/lazy.ts'
import { newOwnerTag, OWNER_TAG } from './owner-tag.ts'
import type { Platform } from './platform.ts'
import type { ProcessCommand, ProcessHost, RunningProcess } from './types.ts'

/** The options of openProcessHost(). */
export interface ProcessHostOptions {
  /** The id of this process. */
  pid: number
  /** The platform; by default that of the system. */
  platform?: Platform
}

/**
 * Opens a host for the programs of this process. The code for starting programs is loaded with the first one.
 * Some time later the host ends programs left by dead hosts, in the background.
 */
export function openProcessHost(options: ProcessHostOptions): ProcessHost {
  return new Host(options)
}

class Host implements ProcessHost {
  readonly #starter: Lazy<Starter>
  readonly #starting = new Set<Promise<unknown>>()
  readonly #running = new Set<RunningProcess>()
  readonly #leaving = new AbortController()
  #hasLeft = false

  constructor(options: ProcessHostOptions) {
    this.#starter = lazy(async () => {
      const starter = await openStarter(options)
      void sweepLater(starter.platform, options.pid, this.#leaving.signal)
      return starter
    })
  }

  async start(command: ProcessCommand): Promise<RunningProcess> {
    if (this.#leaving.signal.aborted) {
      throw new CrabError('unavailable', `Cannot start ${command.argv[0]}: crabtalk is ending`)
    }
    const starting = this.#start(command)
    this.#starting.add(starting)
    return await starting.finally(() => this.#starting.delete(starting))
  }

  releaseAll(): void {
    this.#hasLeft = true
    this.#leaving.abort()
    for (const running of this.#running) running.release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort()
    await Promise.allSettled(this.#starting) // each adds itself to the running ones
    await Promise.all([...this.#running].map((running) => running.end()))
  }

  async #start(command: ProcessCommand): Promise<RunningProcess> {
    const { platform, findProgram, tagPrefix } = await this.#starter.get()
    const program = await findProgram(command)
    const ownerTag = newOwnerTag(tagPrefix)
    const env = { ...command.env, [OWNER_TAG]: ownerTag }
    const onLetGo = () => this.#running.delete(running)
    const running = await platform.start({ ...command, program, env, ownerTag, onLetGo })
    this.#running.add(running)
    if (this.#hasLeft) running.release()
    return running
  }
}

interface Starter {
  platform: Platform
  findProgram: (command: ProcessCommand) => Promise<string>
  /** The prefix of this process's owner tags. */
  tagPrefix: string
}

async function openStarter(options: ProcessHostOptions): Promise<Starter> {
  const [{ findProgram }, { ownPlatform }] = await Promise.all([
    import('./find-program.ts'),
    import('./own-platform.ts'),
  ])
  const platform = options.platform ?? ownPlatform()
  return { platform, findProgram, tagPrefix: await platform.identify(options.pid) }
}

/** Sweeps after a delay, so that urgent work runs first, and a short command does not sweep at all. */
async function sweepLater(platform: Platform, pid: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(SWEEP_DELAY_MS, undefined, { signal, ref: false })
    await platform.sweep(pid, signal)
  } catch {
    // No caller waits for the sweep, and the next host sweeps again.
  }
}

const SWEEP_DELAY_MS = 1000
