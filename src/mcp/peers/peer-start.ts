import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { HttpVariant } from '../connection/connect.ts'
import type { Connection } from '../connection/connection.ts'
import type { ServerLink } from '../connection/link.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { describeStderrTail, type LineTail } from '../stdio/stderr-tail.ts'
import { toPrintableLine } from '../tools/server-text.ts'
import type { ListRefresh } from './list-refresh.ts'
import type { OpenOptions } from './open-link.ts'
import type { PeerMemory } from './server-memory.ts'
import {
  callLimit,
  isInstaller,
  type StartedServer,
  type StartSlots,
  startServer,
  startupLimit,
  TransportMemory,
} from './start-server.ts'

/** The parts of a peer that its start needs. */
export interface PeerStartOptions {
  target: ServerTarget
  slots: StartSlots
  /** Opens a link to the server. */
  open(options: OpenOptions, signal: AbortSignal): Promise<ServerLink>
  /** The declarations of the server. */
  entries(): readonly McpEntry[]
  memory: PeerMemory
  /** Receives the server's standard error. */
  log: LineTail
  /** Receives the target of each start that has variables of an env helper. */
  onTarget: OpenOptions['onTarget']
  isConnected(): boolean
  newRefresh(): ListRefresh
  onBegin(): void
  /** Called when the server is connected; the start fails if it throws. */
  onStarted(started: StartedServer, refresh: ListRefresh): void
  /** Records a failure and returns the error the start fails with. */
  onFailed(reason: unknown): CrabError
  /** Aborted when the peer is ended. */
  shutdown: AbortSignal
}

/**
 * Starts the server of a peer: one start for all callers that wait for it, replaced by a new one on
 * restart().
 */
export class PeerStart {
  readonly #options: PeerStartOptions
  readonly #links = new PeerLinks()
  readonly #transports: TransportMemory
  #underWay: Promise<Connection> | undefined
  #restart = new AbortController()
  #needed = Promise.withResolvers<void>()

  constructor(options: PeerStartOptions) {
    this.#options = options
    this.#transports = new TransportMemory(options.target)
  }

  get isUnderWay(): boolean {
    return this.#underWay !== undefined
  }

  /** The transport that was used last. */
  get variant(): HttpVariant {
    return this.#transports.current
  }

  /** Whether the next start may have to download the program. */
  get mayInstall(): boolean {
    return this.#options.memory.list === undefined && isInstaller(this.#options.target)
  }

  /** The time limit of the next start, milliseconds. */
  get limitMs(): number {
    return startupLimit(this.#options.entries(), this.mayInstall)
  }

  /** Returns the start under way, or begins one. */
  begin(): Promise<Connection> {
    if (this.#underWay) return this.#underWay
    this.#needed = Promise.withResolvers()
    const starting = this.#start()
    this.#underWay = starting
    this.#options.onBegin()
    return starting
  }

  /** Gives the start priority over those that no caller waits for. */
  need(): void {
    this.#needed.resolve()
  }

  /** Replaces the start under way by a new one, which its callers then wait for. */
  restart(): void {
    this.#restart.abort(new CrabError('unavailable', 'it is being restarted'))
  }

  /** Closes the links, after the start under way has ended because `shutdown` was aborted. Never rejects. */
  async close(): Promise<void> {
    await this.#underWay?.catch(() => undefined) // its callers get the error
    await this.#links.close()
  }

  /** Like close(), for a process that is exiting: does not wait. */
  release(): void {
    this.#links.release()
  }

  async #start(): Promise<Connection> {
    const { shutdown, onFailed } = this.#options
    for (;;) {
      this.#restart = new AbortController()
      const { signal } = this.#restart
      try {
        return await this.#startOnce(AbortSignal.any([shutdown, signal]))
      } catch (reason) {
        if (signal.aborted && !shutdown.aborted) continue
        this.#underWay = undefined
        throw onFailed(reason)
      }
    }
  }

  async #startOnce(signal: AbortSignal): Promise<Connection> {
    const { target, slots, log, memory, newRefresh, onStarted } = this.#options
    const { mayInstall, limitMs: startupMs } = this
    const refresh = newRefresh()
    try {
      const started = await startServer(
        {
          ...{ mayInstall, startupMs, ...this.#transports.plan(memory, startupMs) },
          slots: target.transport === 'stdio' ? slots : undefined,
          needed: this.#needed.promise,
          open: (variant, late) => this.#open(variant, late),
          onToolsChanged: () => refresh.notify(),
          lastWords: () => toPrintableLine(describeStderrTail(log.lines())),
        },
        signal,
      )
      this.#underWay = undefined
      onStarted(started, refresh)
      return started.connection
    } catch (reason) {
      refresh.stop()
      throw reason
    }
  }

  /** Opens a link. Two processes of one server never run at the same time. */
  async #open(variant: HttpVariant, signal: AbortSignal): Promise<ServerLink> {
    const { open, log, onTarget, entries, isConnected, shutdown } = this.#options
    const patienceMs = () => (isConnected() ? callLimit(entries()) : this.limitMs)
    const either = AbortSignal.any([signal, shutdown])
    return await this.#links.replace(() => open({ variant, log, onTarget, patienceMs }, either), either)
  }
}

/** The open links to one server, of which only one is ever in use. */
class PeerLinks {
  readonly #open = new Set<ServerLink>()

  /** Opens a new link after closing the previous one; closes it again if the signal was aborted meanwhile. */
  async replace(open: () => Promise<ServerLink>, signal: AbortSignal): Promise<ServerLink> {
    await this.close()
    const link = await open()
    this.#open.add(link)
    void link.ended.then(() => link.close()).then(() => this.#open.delete(link))
    if (!signal.aborted) return link
    void link.close()
    throw toCancelledError(signal)
  }

  /** Closes all. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((link) => link.close()))
  }

  /** Like close(), for a process that is exiting: does not wait. */
  release(): void {
    for (const link of this.#open) link.release()
  }
}
