import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { CrabError } from '../../core/base/errors.ts'
import { replaceFile } from '../../core/base/files.ts'
import type { Config } from '../../core/config/config.ts'
import { type Channel, TCP_CLIENT, type TcpClient } from '../../core/policy/trust.ts'
import { type Dispatch, route } from '../../core/protocol/dispatch.ts'
import { formatEndpoint } from '../../core/transport/endpoint.ts'
import { type Listener, type ListenOptions, listen } from '../../core/transport/listen.ts'
import { readOrCreateToken } from '../../core/transport/token.ts'
import { daemonEndpoint } from '../find-daemon.ts'
import { forFixedClients } from '../fixed-clients.ts'
import { handlers } from '../handlers/handlers.ts'
import type { Services } from '../services.ts'
import { tcpGatekeeper } from '../tcp/gatekeeper.ts'
import { isTcpOpen, OPEN_TCP_WARNING } from '../tcp/open-tcp.ts'
import { RefusalLog } from '../tcp/refusal-log.ts'
import { TokenBook } from '../tcp/token-book.ts'

/** The options of a daemon's listeners. */
export interface ListenersOptions {
  services: Services
  uid: number
  /** The TCP port: 0 picks a free port; undefined disables TCP. */
  tcpPort: number | undefined
  /** The `[daemon]` table of config.toml. */
  daemon: Config['daemon']
  /** Returns how long requests may continue, in milliseconds; read when the listeners close. */
  graceMs(): number
  onError(error: CrabError): void
  /** Receives the warnings that the user should see at the start. */
  onWarning(message: string): void
  /** Wraps every dispatch, to observe each request. */
  watched(dispatch: Dispatch): Dispatch
}

/** All listeners of a daemon. Disposing closes them concurrently, each as `Listener` does. */
export interface Listeners extends AsyncDisposable {
  endpoints(): string[]
  connections(): number
  /**
   * Returns false once the socket was removed, by itself or with its home: clients can no longer find this
   * daemon.
   */
  isListening(): boolean
}

/**
 * Opens the socket or pipe of the home, and TCP if it is requested. Fails as `listen()` does, and then leaves
 * nothing open.
 */
export async function openListeners(options: ListenersOptions): Promise<Listeners> {
  const open: OpenListener[] = []
  try {
    if (options.tcpPort !== undefined) open.push(await openTcp(options, options.tcpPort))
    open.unshift(await openLocal(options)) // last, so that a client that finds this one finds all of them
  } catch (reason) {
    await closeAll(open)
    throw reason
  }
  return {
    endpoints: () => open.map(({ listener }) => formatEndpoint(listener.endpoint)),
    connections: () => open.reduce((sum, { listener }) => sum + listener.connections, 0),
    isListening: () =>
      open.every(({ listener: { endpoint } }) => endpoint.kind !== 'unix' || existsSync(endpoint.path)),
    [Symbol.asyncDispose]: () => closeAll(open),
  }
}

interface OpenListener extends AsyncDisposable {
  listener: Listener
  /** The path of the file with its port number. */
  portFile?: string
}

async function openLocal(options: ListenersOptions): Promise<OpenListener> {
  const { paths, env } = options.services.node
  const { endpoint, addressFile } = daemonEndpoint({ paths, env, uid: options.uid })
  const more = addressFile === undefined ? {} : { addressFile }
  const listener = await listen(endpoint, toListenOptions(options, 'local', { more }))
  return { listener, [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose]() }
}

async function openTcp(options: ListenersOptions, port: number): Promise<OpenListener> {
  const { run } = options.services.node.paths
  await using opening = new AsyncDisposableStack()
  const refusals = opening.use(new RefusalLog(options.services.node.log))
  const gate = isTcpOpen(options.daemon, options.services.node.env)
    ? await tokenlessGate(options, { refusals, opening })
    : await tokenGate(options, { refusals, opening })
  const place = { kind: 'tcp', host: LOOPBACK, port } as const
  const listener = opening.use(await listen(place, toListenOptions(options, gate.client, gate)))
  const portFile = join(run, 'crabtalk.port')
  if (listener.endpoint.kind === 'tcp') await replaceFile(portFile, `${listener.endpoint.port}\n`)
  const owned = opening.move()
  return { listener, portFile, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** The refusal log, and the stack that closes what a gate opens. */
interface Opening {
  refusals: RefusalLog
  opening: AsyncDisposableStack
}

/**
 * Serves every client without a token, outside the namespaces of existing tokens; refusals are still logged.
 */
async function tokenlessGate(options: ListenersOptions, { refusals, opening }: Opening): Promise<TcpGate> {
  options.onWarning(OPEN_TCP_WARNING)
  const book = opening.use(createTokenBook(options, { hasOwnToken: false }))
  const client: TcpClient = {
    kind: 'tcp',
    isTaken: (name) => book.isTaken(name),
    refused: (operation, reason) => refusals.add({ address: LOOPBACK, operation, reason }),
  }
  return {
    client,
    fresh: (dispatch) =>
      async function* (message, signal) {
        await book.refresh() // a token that was created a moment ago reserves its namespace
        yield* dispatch(message, signal)
      },
  }
}

/** Admits clients by their tokens. */
async function tokenGate(options: ListenersOptions, { refusals, opening }: Opening): Promise<TcpGate> {
  const { services, watched, onWarning } = options
  const { run } = services.node.paths
  const { replaced } = await readOrCreateToken(run)
  if (replaced !== undefined) onWarning(`run/tcp.token was replaced: ${replaced}; clients need the new one`)
  const book = opening.use(createTokenBook(options))
  const serve = (client: TcpClient) => watched(route(handlers(services, client)))
  const serveFixed = (client: TcpClient) => watched(fixedDispatch(services, client))
  const gatekeeper = tcpGatekeeper({ book, refusals, serve, serveFixed })
  return { client: TCP_CLIENT, more: { gatekeeper } }
}

function createTokenBook({ services }: ListenersOptions, more: { hasOwnToken?: boolean } = {}): TokenBook {
  const { node, stores, now } = services
  const lock = (resource: string, signal: AbortSignal) => stores.leases.take(resource, signal)
  return new TokenBook({ run: node.paths.run, lock, log: node.log, now, ...more })
}

/** The way in which a listener serves its clients. */
interface Gate {
  /** Reloads changed tokens before each message of clients that need none. */
  fresh?(dispatch: Dispatch): Dispatch
  more?: Pick<ListenOptions, 'gatekeeper' | 'addressFile'>
}

/** The gate of a TCP listener. */
interface TcpGate extends Gate {
  /** The client that connections without a gatekeeper are served as. */
  client: TcpClient
}

/** Returns the options of a listener, which reads the grace period when it closes. */
function toListenOptions(
  { services, watched, graceMs, onError }: ListenersOptions,
  channel: Channel,
  { fresh = (dispatch) => dispatch, more = {} }: Gate,
): ListenOptions {
  return {
    ...more,
    dispatch: watched(fresh(route(handlers(services, channel)))),
    fixedDispatch: watched(fresh(fixedDispatch(services, channel))),
    get graceMs() {
      return graceMs()
    },
    onError,
  }
}

/** Returns a dispatch for clients of the fixed protocol. */
function fixedDispatch(services: Services, channel: Channel): Dispatch {
  return forFixedClients(route(handlers(services, channel, {}, 'fixed')), { services, channel })
}

async function closeAll(open: readonly OpenListener[]): Promise<void> {
  await Promise.all(
    open.map(async (opened) => {
      await using _listener = opened // closed also where its port file cannot be removed
      if (opened.portFile !== undefined) await rm(opened.portFile, { force: true })
    }),
  )
}

const LOOPBACK = '127.0.0.1'
