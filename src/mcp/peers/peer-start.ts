import { CrabError } from '../../core/base/errors.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { HttpVariant } from '../connection/connect.ts'
import type { Connection } from '../connection/connection.ts'
import type { ServerLink } from '../connection/link.ts'
import { describeStderrTail, type LineTail } from '../stdio/stderr-tail.ts'
import { toPrintableLine } from '../tools/remote-tool.ts'
import type { ListRefresh } from './list-refresh.ts'
import { PeerLinks } from './peer-links.ts'
import type { PeerMemory } from './peer-memory.ts'
import type { PeerOptions } from './peer-types.ts'
import { type StartedServer, startServer } from './server-start.ts'
import { callLimit, isInstaller, startupLimit } from './startup.ts'
import { TransportMemory } from './transport-memory.ts'

/** What the start of a server needs of its peer. */
interface PeerStartOptions extends Pick<PeerOptions, 'target' | 'slots' | 'open'> {
  /** What declares it. */
  entries(): readonly McpEntry[]
  memory: PeerMemory
  /** Takes what it writes to standard error. */
  log: LineTail
  isConnected(): boolean
  newRefresh(): ListRefresh
  onBegin(): void
  /** What it throws fails the start. */
  onStarted(started: StartedServer, refresh: ListRefresh): void
  /** Gives what the start fails with. */
  onFailed(reason: unknown): CrabError
  /** Aborted when the peer is of no use any more. */
  over: AbortSignal
}

/** How the server of a peer is started: one start for all who wait for it, made anew when somebody wants that. */
export class PeerStart {
  readonly #options: PeerStartOptions
  readonly #links = new PeerLinks()
  readonly #ways: TransportMemory
  #underWay: Promise<Connection> | undefined
  #restart = new AbortController()
  #needed = Promise.withResolvers<void>()

  constructor(options: PeerStartOptions) {
    this.#options = options
    this.#ways = new TransportMemory(options.target)
  }

  get isUnderWay(): boolean {
    return this.#underWay !== undefined
  }

  /** The way to the server that was taken last. */
  get way(): HttpVariant {
    return this.#ways.current
  }

  /** Whether the next one may have to fetch the program. */
  get mayInstall(): boolean {
    return this.#options.memory.list === undefined && isInstaller(this.#options.target)
  }

  /** How long the next one may take, milliseconds. */
  get limitMs(): number {
    return startupLimit(this.#options.entries(), this.mayInstall)
  }

  /** The start under way, or a new one. */
  begin(): Promise<Connection> {
    if (this.#underWay) return this.#underWay
    this.#needed = Promise.withResolvers()
    const begun = this.#start()
    this.#underWay = begun
    this.#options.onBegin()
    return begun
  }

  /** Somebody waits: it goes before those that nobody waits for. */
  need(): void {
    this.#needed.resolve()
  }

  /** Ends the start under way for another one: whoever waits for it waits for that. */
  restart(): void {
    this.#restart.abort(new CrabError('unavailable', 'it is being started anew'))
  }

  /** Closes what is open, once the start under way has given up as it is over. Never rejects. */
  async close(): Promise<void> {
    await this.#underWay?.catch(() => undefined) // whoever waits for it is told
    await this.#links.close()
  }

  /** As close(), for a host that is leaving: nobody waits. */
  release(): void {
    this.#links.release()
  }

  async #start(): Promise<Connection> {
    const { over, onFailed } = this.#options
    for (;;) {
      this.#restart = new AbortController()
      const { signal } = this.#restart
      try {
        return await this.#startOnce(AbortSignal.any([over, signal]))
      } catch (reason) {
        if (signal.aborted && !over.aborted) continue
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
          ...{ mayInstall, startupMs, ...this.#ways.plan(memory, startupMs) },
          slots: target.transport === 'stdio' ? slots : undefined,
          needed: this.#needed.promise,
          open: (way, late) => this.#open(way, late),
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

  /** Two processes of one server never run at once. */
  async #open(way: HttpVariant, signal: AbortSignal): Promise<ServerLink> {
    const { open, log, entries, isConnected, over } = this.#options
    const patienceMs = () => (isConnected() ? callLimit(entries()) : this.limitMs)
    const either = AbortSignal.any([signal, over])
    return await this.#links.replace(() => open({ way, log, patienceMs }, either), either)
  }
}
