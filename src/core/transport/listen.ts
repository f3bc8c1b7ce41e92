import { createServer, type Socket } from 'node:net'
import { CrabError, toCrabError } from '../base/errors.ts'
import type { Dispatch } from '../protocol/dispatch.ts'
import type { Gatekeeper } from './admission.ts'
import { bind } from './bind.ts'
import { formatEndpoint, type SocketEndpoint } from './endpoint.ts'
import { type ConnectionTimes, serveConnection } from './serve-connection.ts'

/** What a listener serves, and how. */
export interface ListenOptions {
  dispatch: Dispatch
  /** Serves clients that have used no addition to the fixed protocol; `dispatch` when absent. */
  fixedDispatch?: Dispatch
  /** Every connection must show it a token in its first message, and is served as it says. */
  gatekeeper?: Gatekeeper
  /** Where to say that a Unix socket is outside the home: see `localEndpoint()`. */
  addressFile?: string
  /** How long requests may still run once the listener is disposed, in milliseconds. */
  graceMs: number
  /** Told of trouble that the listener survives. */
  onError: (error: CrabError) => void
  times?: Partial<ConnectionTimes & { abortMs: number }>
}

/**
 * A listening server.
 *
 * Disposing stops accepting, lets requests end within the grace (subscriptions end at once), aborts the others with
 * `unavailable`, and closes every connection; what ignores its signal is reported and left behind.
 */
export interface Listener extends AsyncDisposable {
  /** With the real port. */
  readonly endpoint: SocketEndpoint
  /** How many are open. */
  readonly connections: number
}

const TIMES: ConnectionTimes = { probeMs: 250, heartbeatMs: 1000, authMs: 10_000, lingerMs: 1000 }
/** The time requests have to notice that their connection is gone. */
const LAST_MS = 200
/** Connections that have not shown the token; one more ends the oldest. */
const MAX_STRANGERS = 64
/** The time requests have to end once they were aborted: a tool's program gets two seconds before it is killed. */
const ABORT_MS = 2800
/** Finds peers over TCP that are gone without a word. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 30_000, noDelay: true }

/** Listens, and serves every connection. `conflict` where another already listens. */
export async function listen(endpoint: SocketEndpoint, options: ListenOptions): Promise<Listener> {
  const isTcp = endpoint.kind === 'tcp'
  const server = createServer({ allowHalfOpen: true, ...(isTcp && KEEP_ALIVE) })
  const connections = new Connections(options, isTcp)
  server.on('connection', (socket) => connections.serve(socket))
  const { addressFile, onError } = options
  const bound = await bind(server, endpoint, addressFile).catch((reason: unknown) => {
    server.close()
    throw reason
  })
  server.on('error', (cause) => {
    const what = `Cannot accept a connection on ${formatEndpoint(bound.endpoint)}: ${cause.message}`
    onError(new CrabError('unavailable', what, { cause }))
  })
  const close = async () => {
    server.close()
    await bound.release().catch((reason: unknown) => onError(toCrabError(reason)))
    await connections.close()
  }
  let closed: Promise<void> | undefined
  return {
    endpoint: bound.endpoint,
    get connections() {
      return connections.size
    },
    [Symbol.asyncDispose]() {
      closed ??= close()
      return closed
    },
  }
}

/** The connections of one listener. */
class Connections {
  readonly #options: ListenOptions
  readonly #isTcp: boolean
  readonly #goAway = new AbortController()
  readonly #stop = new AbortController()
  readonly #sockets = new Set<Socket>()
  /** Those that have not shown the token yet, oldest first. */
  readonly #strangers = new Set<Socket>()
  readonly #served = new Set<Promise<void>>()

  constructor(options: ListenOptions, isTcp: boolean) {
    this.#options = options
    this.#isTcp = isTcp
  }

  get size(): number {
    return this.#sockets.size
  }

  serve(socket: Socket): void {
    const { dispatch, fixedDispatch, gatekeeper, times, onError } = this.#options
    this.#sockets.add(socket)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#strangers.delete(socket)
    })
    if (gatekeeper) this.#suspect(socket, gatekeeper)
    const served = serveConnection(socket, {
      dispatch,
      fixedDispatch,
      gatekeeper,
      onAdmitted: () => this.#strangers.delete(socket),
      isTcp: this.#isTcp,
      times: { ...TIMES, ...times },
      goAway: this.#goAway.signal,
      stop: this.#stop.signal,
    })
      .catch((reason: unknown) => {
        socket.destroy()
        onError(toCrabError(reason))
      })
      .finally(() => this.#served.delete(served))
    this.#served.add(served)
  }

  /** Anybody on this machine can connect over TCP: that must not use up the files of this process. */
  #suspect(socket: Socket, gatekeeper: Gatekeeper): void {
    this.#strangers.add(socket)
    const [oldest] = this.#strangers
    if (!oldest || this.#strangers.size <= MAX_STRANGERS) return
    gatekeeper.refused(oldest.remoteAddress ?? '', 'too many connections have shown no token')
    oldest.destroy()
  }

  async close(): Promise<void> {
    const { graceMs, times, onError } = this.#options
    this.#goAway.abort()
    await this.#settleWithin(graceMs)
    this.#stop.abort(new CrabError('unavailable', 'Cannot go on: the daemon is shutting down'))
    await this.#settleWithin(times?.abortMs ?? ABORT_MS)
    for (const socket of this.#sockets) socket.destroy()
    await this.#settleWithin(LAST_MS)
    if (this.#served.size === 0) return
    onError(new CrabError('internal', `${this.#served.size} connections have requests that ignore their end`))
  }

  async #settleWithin(ms: number): Promise<void> {
    const over = Promise.withResolvers<void>()
    const timer = setTimeout(over.resolve, ms)
    await Promise.race([Promise.all(this.#served), over.promise])
    clearTimeout(timer)
  }
}
