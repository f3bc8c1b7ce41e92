import type { Log } from '../../core/base/log.ts'
import { readIdentity } from '../../core/process/service-process.ts'
import { sendSignal } from '../../core/process/signals.ts'
import type { ProbeService } from '../probe/types.ts'

/** A service that its service manager reports as running. */
export interface RunningService {
  name: string
  pid: number
  /**
   * Whether it is part of this program. A built-in service always answers once it has started; a component
   * may not.
   */
  isBuiltIn: boolean
}

/** The ports of a Watchdog. */
export interface WatchdogPorts {
  running(signal: AbortSignal): Promise<readonly RunningService[]>
  probe: ProbeService
  log: Log
  /** Returns milliseconds of a monotonic clock. */
  elapsed(): number
}

/** The timing of probes, in milliseconds. */
export interface WatchdogTiming {
  /** The time without an answer after which a service counts as hung. */
  limitMs: number
  /** The time between two rounds of probes. */
  periodMs: number
}

interface WatchedService {
  pid: number
  identity: string
  firstSeen: number
  hasAnswered: boolean
  /** The time of the first missed probe since the last answer. */
  missedSince?: number
  misses: number
}

/**
 * Probes running services and kills one that no longer answers; its service manager then restarts it. A
 * component counts as hung only after it has answered once and while its port file exists, so that a program
 * without tools or a port is left alone.
 */
export class Watchdog {
  readonly #ports: WatchdogPorts
  readonly #watched = new Map<string, WatchedService>()
  /** The time at which the last round of probes ended. */
  #lookedAt: number | undefined

  constructor(ports: WatchdogPorts) {
    this.#ports = ports
  }

  /** Probes every running service once. */
  async probe(pace: WatchdogTiming, signal: AbortSignal): Promise<void> {
    const running = await this.#ports.running(signal)
    const at = this.#ports.elapsed()
    // The machine was suspended or this process was starved: earlier misses say nothing about the services.
    if (this.#lookedAt !== undefined && at - this.#lookedAt > MAX_GAP * pace.periodMs + GAP_MS)
      this.#resetMisses()
    for (const name of this.#watched.keys()) {
      if (!running.some((service) => service.name === name)) this.#watched.delete(name)
    }
    await Promise.all(running.map((service) => this.#probeService(service, pace, signal)))
    this.#lookedAt = this.#ports.elapsed()
  }

  async #probeService(service: RunningService, pace: WatchdogTiming, signal: AbortSignal): Promise<void> {
    const { name } = service
    const watched = await this.#watch(service)
    if (!watched) return
    const { answers, isForeign, problem, port } = await this.#ports.probe(name, signal)
    if (signal.aborted) return
    const isUnannounced = !answers && !service.isBuiltIn && port === undefined && problem === undefined
    if (isUnannounced) return void this.#watched.set(name, toFresh(watched))
    if (answers || isForeign) {
      if (watched.misses > 1) this.#ports.log('info', 'Answers again', { service: name })
      this.#watched.set(name, { ...toFresh(watched), hasAnswered: true })
      return
    }
    const at = this.#ports.elapsed()
    const isDue = watched.hasAnswered || (service.isBuiltIn && at - watched.firstSeen > pace.limitMs)
    if (!isDue) return
    watched.misses += 1
    watched.missedSince ??= at
    const why = problem ?? 'it does not answer'
    if (watched.misses === 2) this.#ports.log('warn', `Misses probes: ${why}`, { service: name })
    if (watched.misses < MIN_MISSES || at - watched.missedSince < pace.limitMs - pace.periodMs) return
    await this.#end(name, watched, why)
  }

  async #end(
    name: string,
    { pid, identity, misses, missedSince = 0 }: WatchedService,
    why: string,
  ): Promise<void> {
    this.#watched.delete(name)
    if ((await readIdentity(pid)) !== identity) return
    const seconds = Math.round((this.#ports.elapsed() - missedSince) / 1000)
    const message = `Hung: ${misses} probes missed in ${seconds} s (${why}); killed process ${pid} so that it starts again`
    this.#ports.log('error', message, { service: name })
    sendSignal(pid, 'SIGKILL')
  }

  /** Returns the record of a service's process; undefined when the process has ended. */
  async #watch({ name, pid }: RunningService): Promise<WatchedService | undefined> {
    const known = this.#watched.get(name)
    const identity = await readIdentity(pid)
    if (identity === undefined) return undefined
    if (known?.pid === pid && known.identity === identity) return known
    const watched = { pid, identity, firstSeen: this.#ports.elapsed(), hasAnswered: false, misses: 0 }
    this.#watched.set(name, watched)
    return watched
  }

  #resetMisses(): void {
    for (const [name, watched] of this.#watched) this.#watched.set(name, toFresh(watched))
  }
}

function toFresh({ pid, identity, firstSeen, hasAnswered }: WatchedService): WatchedService {
  return { pid, identity, firstSeen, hasAnswered, misses: 0 }
}

/** A single missed probe may be an accident of load. */
const MIN_MISSES = 3
/** A round that begins later than this many periods plus this time after the last one was held up. */
const MAX_GAP = 2
const GAP_MS = 5000
