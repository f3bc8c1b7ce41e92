import { createServer, type Socket } from 'node:net'
import { waitAtMost } from '../base/deadline.ts'
import { CrabError, toCrabError } from '../base/errors.ts'
import type { Dispatch } from '../protocol/dispatch.ts'
import type { Gatekeeper } from './admission.ts'
import { bind } from './bind.ts'
import { formatEndpoint, type SocketEndpoint } from './endpoint.ts'
import { type ConnectionTimes, serveConnection } from './serve-connection.ts'

/** The services and limits of a listener. */
export interface ListenOptions {
  dispatch: Dispatch
  /** Serves clients that have used no additions to the fixed protocol; `dispatch` when absent. */
  fixedDispatch?: Dispatch
  /**
   * Requires every connection to send a token in its first message, and provides the dispatch of each client.
   */
  gatekeeper?: Gatekeeper
  /** The file that names a Unix socket outside the home: see `daemonSocketEndpoint()`. */
  addressFile?: string
  /** The time running requests may take after the listener is disposed, in milliseconds. */
  graceMs: number
  /** Called for errors that the listener survives. */
  onError: (error: CrabError) => void
  times?: Partial<ConnectionTimes & { abortMs: number }>
}

/**
 * A listening server.
 *
 * Disposing it stops accepting, lets requests end within the grace period (subscriptions end immediately),
 * aborts the remaining ones with `unavailable`, and closes every connection. Requests that ignore their
 * signal are reported and abandoned.
 */
export interface Listener extends AsyncDisposable {
  /** The endpoint, with the actual port. */
  readonly endpoint: SocketEndpoint
  /** The number of open connections. */
  readonly connections: number
}

const TIMES: ConnectionTimes = { probeMs: 250, heartbeatMs: 1000, authMs: 10_000, lingerMs: 1000 }
/** The time requests have to notice that their connection was closed. */
const LAST_MS = 200
/** The maximum number of unauthenticated connections; one more closes the oldest. */
const MAX_UNAUTHENTICATED = 64
/** The time aborted requests have to end: a tool's program gets two seconds before it is killed. */
const ABORT_MS = 2800
/** Socket options that detect TCP peers which vanished without closing the connection. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 30_000, noDelay: true }

/**
 * Listens on an endpoint and serves every connection. Throws `conflict` when another server already listens
 * there.
 */
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
  /** The connections without a valid token so far, oldest first. */
  readonly #unauthenticated = new Set<Socket>()
  readonly #serving = new Set<Promise<void>>()

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
      this.#unauthenticated.delete(socket)
    })
    if (gatekeeper) this.#trackUnauthenticated(socket, gatekeeper)
    const serving = serveConnection(socket, {
      dispatch,
      fixedDispatch,
      gatekeeper,
      onAdmitted: () => this.#unauthenticated.delete(socket),
      isTcp: this.#isTcp,
      times: { ...TIMES, ...times },
      goAway: this.#goAway.signal,
      stop: this.#stop.signal,
    })
      .catch((reason: unknown) => {
        socket.destroy()
        onError(toCrabError(reason))
      })
      .finally(() => this.#serving.delete(serving))
    this.#serving.add(serving)
  }

  /**
   * Limits unauthenticated connections: any user of this machine can connect over TCP, which must not use up
   * this process's file descriptors.
   */
  #trackUnauthenticated(socket: Socket, gatekeeper: Gatekeeper): void {
    this.#unauthenticated.add(socket)
    const [oldest] = this.#unauthenticated
    if (!oldest || this.#unauthenticated.size <= MAX_UNAUTHENTICATED) return
    gatekeeper.refused(oldest.remoteAddress ?? '', 'too many connections have not sent a token')
    oldest.destroy()
  }

  async close(): Promise<void> {
    const { graceMs, times, onError } = this.#options
    this.#goAway.abort()
    await waitAtMost(Promise.all(this.#serving), graceMs)
    this.#stop.abort(new CrabError('unavailable', 'Cannot continue: the daemon is shutting down'))
    await waitAtMost(Promise.all(this.#serving), times?.abortMs ?? ABORT_MS)
    for (const socket of this.#sockets) socket.destroy()
    await waitAtMost(Promise.all(this.#serving), LAST_MS)
    if (this.#serving.size === 0) return
    onError(
      new CrabError('internal', `${this.#serving.size} connections have requests that ignore cancellation`),
    )
  }
}
