import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { CrabError } from '../../core/base/errors.ts'
import { replaceFile } from '../../core/base/files.ts'
import { type Channel, TCP_CLIENT } from '../../core/policy/trust.ts'
import { type Dispatch, route } from '../../core/protocol/dispatch.ts'
import { formatEndpoint } from '../../core/transport/endpoint.ts'
import { type Listener, type ListenOptions, listen } from '../../core/transport/listen.ts'
import { readOrCreateToken } from '../../core/transport/token.ts'
import { daemonEndpoint } from '../find-daemon.ts'
import { forFixedClients } from '../fixed-clients.ts'
import { handlers } from '../handlers/handlers.ts'
import type { Services } from '../services.ts'

/** Where a daemon listens, and how its connections end. */
export interface ListenersOptions {
  services: Services
  uid: number
  /** 0 picks a free one; undefined: no TCP. */
  tcpPort: number | undefined
  /** Whether TCP clients must show the token of run/tcp.token. */
  tcpToken: boolean
  /** Read when the listeners close: how long requests may still run. */
  graceMs(): number
  onError(error: CrabError): void
  /** Sees every request as it comes. */
  watched(dispatch: Dispatch): Dispatch
}

/** Everything a daemon listens on. Disposing closes all at once, as Listener does. */
export interface Listeners extends AsyncDisposable {
  endpoints(): string[]
  connections(): number
  /** False once the socket was removed, by itself or with its home: nobody finds this daemon any more. */
  isStanding(): boolean
}

/** Opens the socket, or pipe, of the home, and TCP where it is asked for; fails as listen(), and then nothing is left open. */
export async function openListeners(options: ListenersOptions): Promise<Listeners> {
  const open: Opened[] = []
  try {
    if (options.tcpPort !== undefined) open.push(await openTcp(options, options.tcpPort))
    open.unshift(await openLocal(options)) // last: who finds it there finds all of them
  } catch (reason) {
    await closeAll(open)
    throw reason
  }
  return {
    endpoints: () => open.map(({ listener }) => formatEndpoint(listener.endpoint)),
    connections: () => open.reduce((sum, { listener }) => sum + listener.connections, 0),
    isStanding: () =>
      open.every(({ listener: { endpoint } }) => endpoint.kind !== 'unix' || existsSync(endpoint.path)),
    [Symbol.asyncDispose]: () => closeAll(open),
  }
}

interface Opened {
  listener: Listener
  /** Says where it is. */
  portFile?: string
}

async function openLocal(options: ListenersOptions): Promise<Opened> {
  const { paths, env } = options.services.node
  const { endpoint, addressFile } = daemonEndpoint({ paths, env, uid: options.uid })
  const more = addressFile === undefined ? {} : { addressFile }
  return { listener: await listen(endpoint, toListenOptions(options, 'local', more)) }
}

async function openTcp(options: ListenersOptions, port: number): Promise<Opened> {
  const { run } = options.services.node.paths
  const token = options.tcpToken ? { token: await readOrCreateToken(run) } : {}
  const place = { kind: 'tcp', host: LOOPBACK, port } as const
  const listener = await listen(place, toListenOptions(options, TCP_CLIENT, token))
  const portFile = join(run, 'crabtalk.port')
  try {
    if (listener.endpoint.kind === 'tcp') await replaceFile(portFile, `${listener.endpoint.port}\n`)
    return { listener, portFile }
  } catch (reason) {
    await listener[Symbol.asyncDispose]()
    throw reason
  }
}

/** The grace is read when the listener closes. */
function toListenOptions(
  { services, graceMs, onError, watched }: ListenersOptions,
  channel: Channel,
  more: Pick<ListenOptions, 'token' | 'addressFile'>,
): ListenOptions {
  const dispatch = watched(route(handlers(services, channel)))
  return {
    ...more,
    dispatch,
    fixedDispatch: forFixedClients(dispatch, { services, channel }),
    get graceMs() {
      return graceMs()
    },
    onError,
  }
}

async function closeAll(open: readonly Opened[]): Promise<void> {
  await Promise.all(
    open.map(async ({ listener, portFile }) => {
      if (portFile !== undefined) await rm(portFile, { force: true })
      await listener[Symbol.asyncDispose]()
    }),
  )
}

const LOOPBACK = '127.0.0.1'
