import { platform } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../base/errors.ts'
import { findProgram } from './find-program.ts'
import { linuxPlatform } from './linux.ts'
import { MARK, newMark } from './mark.ts'
import type { Platform } from './platform.ts'
import { posixPlatform } from './posix.ts'
import type { Command, ProcessHost, RunningProcess } from './types.ts'
import { windowsPlatform } from './windows.ts'

export interface ProcessHostOptions {
  /** Of this process. */
  pid: number
  /** By default that of the system. */
  platform?: Platform
}

/**
 * Opens a host for the programs of this process. Some time after the first start it ends what hosts that died have left
 * behind; nobody waits for that.
 */
export function openProcessHost(options: ProcessHostOptions): ProcessHost {
  return new Host(options)
}

class Host implements ProcessHost {
  readonly #pid: number
  readonly #platform: Platform
  readonly #starting = new Set<Promise<unknown>>()
  readonly #running = new Set<RunningProcess>()
  readonly #leaving = new AbortController()
  #owner: Promise<string> | undefined
  #hasLeft = false

  constructor({ pid, platform = ownPlatform() }: ProcessHostOptions) {
    this.#pid = pid
    this.#platform = platform
  }

  async start(command: Command): Promise<RunningProcess> {
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
    await Promise.allSettled(this.#starting) // each adds itself to those that run
    await Promise.all([...this.#running].map((running) => running.end()))
  }

  async #start(command: Command): Promise<RunningProcess> {
    const program = await findProgram(command)
    const mark = newMark(await this.#identify())
    const env = { ...command.env, [MARK]: mark }
    const launch = { ...command, program, env, mark, onLetGo: () => this.#running.delete(running) }
    const running = await this.#platform.start(launch)
    this.#running.add(running)
    if (this.#hasLeft) running.release()
    return running
  }

  #identify(): Promise<string> {
    if (this.#owner === undefined) {
      this.#owner = this.#platform.identify(this.#pid)
      void this.#sweepLater()
    }
    return this.#owner
  }

  /** After a while, so that what is in a hurry goes first, and a command that is soon done does not sweep at all. */
  async #sweepLater(): Promise<void> {
    const { signal } = this.#leaving
    try {
      await sleep(SWEEP_DELAY_MS, undefined, { signal, ref: false })
      await this.#platform.sweep(this.#pid, signal)
    } catch {
      // Nobody waits for it, and the next host sweeps again.
    }
  }
}

function ownPlatform(): Platform {
  const systems: Partial<Record<NodeJS.Platform, () => Platform>> = {
    linux: linuxPlatform,
    win32: windowsPlatform,
  }
  return (systems[platform()] ?? posixPlatform)()
}

const SWEEP_DELAY_MS = 1000
