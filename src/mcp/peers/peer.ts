import { abortable, toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { Connection, RemoteCall } from '../connection/connection.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { validateTarget } from '../remote/header-rules.ts'
import { adviseCredentials } from '../remote/login-hint.ts'
import { maskAnswer, maskOffer, type ServerOffer } from '../secrets/mask.ts'
import { ServerSecrets } from '../secrets/server-secrets.ts'
import { LineTail } from '../stdio/stderr-tail.ts'
import type { ToolList } from '../tools/remote-tool.ts'
import type { PeerState } from '../types.ts'
import { ListRefresh } from './list-refresh.ts'
import { CallRecord, FailureRecord } from './peer-records.ts'
import { PeerStart, type PeerStartOptions } from './peer-start.ts'
import { IdleTimer, RefCount, RetryTimer } from './peer-usage.ts'
import type { ServerLog } from './server-log.ts'
import { PeerMemory, type PeerMemoryOptions } from './server-memory.ts'
import { idleLimit, type StartedServer } from './start-server.ts'

/** The use of a server by one declaration. */
export interface Claim {
  /** Empty while an entry is only being verified. */
  agentId: string
  /** The agent's name. */
  agent: string
  entry: McpEntry
  peer: Peer
}

/**
 * A change of a server's state. `failed` includes a server that ended by itself; `disconnected` is
 * deliberate.
 */
export type PeerEvent = 'connecting' | 'connected' | 'failed' | 'disconnected'

/** The dependencies of a peer. */
export interface PeerOptions extends PeerMemoryOptions, Pick<PeerStartOptions, 'target' | 'slots' | 'open'> {
  /** Receives its standard error, to be read by other processes. */
  log: ServerLog | undefined
  /** Whether an agent declares it. */
  isDeclared(): boolean
  /** Waits for a time in milliseconds without keeping the process alive. Rejects when aborted. */
  wait(ms: number, signal: AbortSignal): Promise<unknown>
  /** Runs an env helper and returns its variables. Throws as runEnvHelper() does. */
  readEnv(argv: readonly string[], signal: AbortSignal): Promise<Readonly<Record<string, string>>>
  onEvent(kind: PeerEvent): void
  onToolsChanged(): void
}

/**
 * One server, shared by all that declare it: connects on demand, detects its end, and knows its tools while
 * it is not running. The creator ends or releases it.
 *
 * Its connection moves through these states (ADR 0074); Peers has the stages of the server itself:
 * - invalid: the target can never be started. Final.
 * - idle: it is not running, and no failure is known. connect() and start() make it connecting.
 * - connecting: PeerStart starts the server. #succeed() makes it connected, #fail() makes it failed or needs_auth.
 * - connected: it answers calls. #stopIdle() makes it idle, #lose() (the server ended, or refused the credentials)
 *   makes it failed or needs_auth, reconnect() makes it connecting.
 * - failed, needs_auth: the last start or connection failed, here or in an earlier process. connect() and start() make
 *   it connecting once FailureRecord allows it, connect() with `insist` and reconnect() immediately. A server that
 *   `retriesItself` becomes connecting by itself at that time (ADR 0216).
 */
export class Peer {
  readonly fingerprint: string
  readonly target: ServerTarget
  readonly memory: PeerMemory
  readonly record: CallRecord
  readonly failures: FailureRecord
  /** The declarations that use it. */
  claims: readonly Claim[] = []
  connectedAt: number | undefined
  readonly #options: PeerOptions
  readonly #secrets: ServerSecrets
  readonly #stderr = new LineTail(
    (line) => this.#secrets.hide(line),
    (read, count) => this.#log?.add(read, count),
  )
  readonly #log: ServerLog | undefined
  readonly #shutdown = new AbortController()
  /** The reason it is never started. */
  readonly #issue: CrabError | undefined
  readonly #start: PeerStart
  #connection: Connection | undefined
  #refresh: ListRefresh | undefined
  readonly #retry: RetryTimer
  readonly #holders = new RefCount()
  /** The requests that it has not answered yet. */
  readonly #requests = new RefCount()
  readonly #idle = new IdleTimer({
    limitMs: () => idleLimit(this.#entries()),
    onIdle: () => this.#stopIdle(),
  })

  constructor(options: PeerOptions) {
    this.#options = options
    this.fingerprint = options.fingerprint
    this.target = options.target
    this.#log = options.log
    this.#secrets = new ServerSecrets(options.target)
    this.#issue = validateTarget(options.target)
    this.memory = new PeerMemory(options)
    this.record = new CallRecord(options.now)
    this.failures = new FailureRecord(options.now)
    this.#retry = new RetryTimer({
      ...options,
      onDue: () => this.error && this.retriesItself && this.start(),
    })
    this.#start = new PeerStart({
      ...options,
      entries: () => this.#entries(),
      memory: this.memory,
      log: this.#stderr,
      onTarget: (target) => this.#secrets.add(target),
      isConnected: () => this.#connection !== undefined,
      newRefresh: () => new ListRefresh({ read: () => this.#readAgain(), now: options.now }),
      onBegin: () => options.onEvent('connecting'),
      onStarted: (started, refresh) => this.#succeed(started, refresh),
      onFailed: (reason) => this.#fail(reason),
      shutdown: this.#shutdown.signal,
    })
  }

  get state(): PeerState {
    if (this.#issue) return 'invalid'
    if (this.#connection) return 'connected'
    if (this.#start.isUnderWay) return 'connecting'
    if (!this.error) return 'idle'
    return this.error.kind === 'credentials' ? 'needs_auth' : 'failed'
  }

  /** The tools it has, or had when any process was last connected to it; undefined when none was. */
  get list(): ToolList | undefined {
    return this.state === 'invalid' ? undefined : this.memory.list
  }

  /** The reason it cannot be used, as thrown by connect(); undefined when none is known. */
  get error(): CrabError | undefined {
    const known = this.#issue ?? this.failures.error
    const { why, needsAuth = false } = this.memory.failure ?? {}
    if (known || why === undefined) return known
    if (!needsAuth || this.target.transport === 'stdio') return new CrabError('unavailable', why)
    return new CrabError('credentials', why, { hint: adviseCredentials(this.target) })
  }

  get protocolVersion(): string {
    return this.#connection?.protocolVersion ?? ''
  }

  get pid(): number | undefined {
    return this.#connection?.pid
  }

  /** Whether its next start may have to download the program. */
  get mayInstall(): boolean {
    return this.#start.mayInstall
  }

  /** The time limit of its next start, milliseconds. */
  get startupMs(): number {
    return this.#start.limitMs
  }

  /**
   * Whether it is started again by itself after a failure. A lazy server waits for a call, and refused
   * credentials wait for a user: they do not get better with time.
   */
  get retriesItself(): boolean {
    const isEager = this.claims.some(({ entry }) => entry.start !== 'lazy')
    return isEager && !this.#issue && this.error?.kind !== 'credentials' && this.#options.isDeclared()
  }

  /** When it is started again, by itself or at the earliest by a call; undefined when a call may start it now. */
  get nextRetryAt(): number | undefined {
    return this.retriesItself ? this.failures.selfRetryAt : this.failures.nextRetryAt
  }

  /** The last lines of its standard error, oldest first. */
  logs(): string[] {
    return this.#stderr.lines()
  }

  /**
   * Learns that credentials have changed, if helpers supply those of this server: one that could not be used is tried
   * again, and one that runs with other variables of its env helper is restarted after the calls under way. Never
   * rejects.
   */
  async renewCredentials(): Promise<void> {
    const { target } = this
    const argv = target.transport === 'stdio' ? target.envHelper : target.authHelper
    if (!argv || this.state === 'invalid') return
    if (!this.#connection) {
      if (!this.error) return
      this.failures.forgive()
      if (this.claims.some(({ entry }) => entry.start !== 'lazy')) this.start()
      return
    }
    if (target.transport !== 'stdio') return // a token that is refused is asked for again
    const variables = await this.#options.readEnv(argv, this.#shutdown.signal).catch(() => undefined) // the next start says why
    if (!variables || this.#secrets.hasEnv(variables)) return
    while (this.#requests.drained) await this.#requests.drained
    if (!this.#connection || this.#secrets.hasEnv(variables)) return // it has them meanwhile, or gets them when it starts
    await this.reconnect(this.#shutdown.signal).catch(() => undefined) // shown in its state
  }

  /** Starts it in the background, unless it runs or failed too recently. */
  start(): void {
    if (this.state === 'invalid' || this.#connection || this.failures.waitMs > 0) return
    this.#start.begin().catch(() => undefined) // shown in its state
  }

  /**
   * Waits until it is connected, starting it if needed; an abort only ends the waiting. `insist` ignores the
   * back-off. Throws `unavailable`, saying in lower case what the server did.
   */
  async connect({ insist = false }, signal: AbortSignal): Promise<Connection> {
    if (this.#issue) throw this.#issue
    if (this.#connection) return this.#connection
    if (!this.#start.isUnderWay && !insist && this.failures.waitMs > 0) throw this.failures.tooEarly()
    const start = this.#start.begin()
    this.#start.need()
    return await abortable(start, signal)
  }

  /** Restarts the server, or a start under way: callers that wait for a start wait for the new one. */
  async reconnect(signal: AbortSignal): Promise<void> {
    this.#start.restart()
    await abortable(this.#disconnect(), signal)
    this.failures.forgive()
    await this.connect({ insist: true }, signal)
  }

  /**
   * Calls a tool by its remote name, connecting first if needed. A call that was under way when the server
   * ended fails once and is not repeated. Throws as Connection does, and `missing` when the server no longer
   * has the tool.
   */
  async call(call: RemoteCall, signal: AbortSignal): Promise<unknown> {
    const callIfListed = (connection: Connection) => {
      if (this.list?.tools.some(({ name }) => name === call.name)) return connection.callTool(call, signal)
      throw new CrabError('missing', 'it no longer has this tool')
    }
    return await this.#request(callIfListed, 'follow', signal)
  }

  /**
   * Sends it any other request, as call() does. Secrets are masked in the answer, which belongs to the
   * caller. It does not count as a call.
   */
  async use<T>(ask: (connection: Connection) => Promise<T>, signal: AbortSignal): Promise<T> {
    return await this.#request(ask, 'observe', signal)
  }

  async #request<T>(
    ask: (connection: Connection) => Promise<T>,
    how: 'follow' | 'observe',
    signal: AbortSignal,
  ): Promise<T> {
    using _held = this.hold()
    const connection = await this.connect({}, signal)
    if (this.failures.waitMs > 0) throw this.failures.tooEarly()
    using _busy = this.#idle.use()
    using _request = this.#requests.hold()
    try {
      const answer = await this.record[how](() => ask(connection), signal)
      this.failures.forgive()
      return maskAnswer(answer, [...connection.secrets, ...this.#secrets.sure])
    } catch (reason) {
      if (!signal.aborted && reason instanceof CrabError) this.#learn(reason, connection)
      throw signal.aborted ? toCancelledError(signal) : this.#secrets.maskError(reason, connection.secrets)
    }
  }

  /** Resolves when the last hold is disposed; undefined when there is none, or it is being stopped. */
  get drained(): Promise<void> | undefined {
    return this.#holders.drained
  }

  /** Keeps it usable until disposed, even without declarations; a call holds it by itself. */
  hold(): Disposable {
    return this.#holders.hold()
  }

  /** Ends the server and every process it started; the peer cannot be used afterwards. Never rejects. */
  async end(): Promise<void> {
    this.#shutdown.abort(new CrabError('unavailable', 'it is being stopped'))
    this.#holders.end()
    this.#requests.end()
    this.#retry.stop()
    await this.#disconnect()
    await this.#start.close()
    this.#log?.flush()
    await this.memory.settled()
  }

  /** Like end(), for a process that is exiting: does not wait. */
  release(): void {
    this.#shutdown.abort(new CrabError('unavailable', 'it is being stopped'))
    this.#idle.stop()
    this.#retry.stop()
    this.#refresh?.stop()
    this.#connection?.release()
    this.#start.release()
    this.#log?.flush()
  }

  #entries(): McpEntry[] {
    return this.claims.map(({ entry }) => entry)
  }

  #succeed({ connection, list }: StartedServer, refresh: ListRefresh): void {
    if (this.#shutdown.signal.aborted) {
      void connection.close()
      throw toCancelledError(this.#shutdown.signal)
    }
    this.#connection = connection
    this.#refresh = refresh
    this.connectedAt = this.#options.now()
    this.failures.connected()
    this.record.starts++
    const isNew = this.memory.connected(this.#clean(list, connection), connection, this.#start.variant)
    if (isNew) this.#options.onToolsChanged()
    void connection.ended.then((why) => this.#lose(connection, new CrabError('unavailable', why)))
    this.#options.onEvent('connected')
    this.#idle.start()
    refresh.begin()
  }

  #fail(reason: unknown): CrabError {
    const error = this.#secrets.maskError(reason)
    if (this.#shutdown.signal.aborted) return error
    this.failures.startFailed(error)
    this.memory.failed(error)
    this.record.lastErrorAt = this.#options.now()
    this.#options.onEvent('failed')
    this.#retry.start(this.failures.selfRetryAt ?? 0)
    return error
  }

  /** Records that the server ended by itself: its tools stay, and the next call starts it again. */
  #lose(connection: Connection, error: CrabError): void {
    if (this.#connection !== connection) return
    this.#connection = undefined
    this.#refresh?.stop()
    this.#idle.stop()
    this.failures.ended(this.#secrets.maskError(error))
    this.record.lastErrorAt = this.#options.now()
    this.#options.onEvent('failed')
    this.#retry.start(this.failures.selfRetryAt ?? 0)
  }

  /** Updates the state from a failed call. */
  #learn(reason: CrabError, connection: Connection): void {
    if (reason.kind === 'tool') this.failures.forgive()
    if (reason.kind === 'throttled') this.failures.throttled(reason.retryAfterMs ?? 0)
    if (reason.kind !== 'credentials') return
    this.#lose(connection, reason)
    void connection.close()
  }

  /** Reads the list of a server that announced a change; returns whether it changed. */
  async #readAgain(): Promise<boolean> {
    const connection = this.#connection
    if (!connection) return false
    try {
      const list = await connection.listTools(this.#shutdown.signal)
      if (
        this.#connection !== connection ||
        !this.memory.connected(this.#clean(list, connection), connection)
      )
        return false
    } catch {
      return false // the old list stays; the end of a server is detected elsewhere
    }
    this.#options.onToolsChanged()
    this.#options.onEvent('connected')
    return true
  }

  /** Masks the server's secrets in its description and tools. */
  #clean(list: ToolList, { about, secrets }: Connection): ServerOffer {
    return maskOffer({ list, about }, [...secrets, ...this.#secrets.sure])
  }

  /** Disconnects it after the idle time of its declarations. */
  #stopIdle(): void {
    if (!this.#connection) return
    void this.#disconnect()
    this.#options.onEvent('disconnected')
  }

  async #disconnect(): Promise<void> {
    this.#idle.stop()
    this.#refresh?.stop()
    const connection = this.#connection
    this.#connection = undefined
    await connection?.close()
  }
}
