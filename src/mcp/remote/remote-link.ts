import type { FetchLike, Transport } from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import type { ProcessHost } from '../../core/process/types.ts'
import type { ServerLink } from '../connection/link.ts'
import type { RemoteTarget } from '../fingerprint.ts'
import { showTarget } from '../secrets/shown-target.ts'
import { HELPER_HINT, runAuthHelper } from './auth-helper.ts'
import { Credentials } from './credentials.ts'
import { HttpTransport } from './http-transport.ts'
import { nodeFetch } from './node-fetch.ts'
import { newCurrentRequest } from './pending-request.ts'
import { remoteFetch } from './remote-fetch.ts'
import { SseTransport } from './sse-transport.ts'

export interface RemoteLinkOptions {
  target: RemoteTarget
  /** How it is spoken to: `sse` is for servers of 2024-11-05 alone. */
  over: 'http' | 'sse'
  processes: ProcessHost
  /** Working directory of an auth helper; absolute. */
  cwd: string
  /** The whole environment of an auth helper. */
  env: Readonly<Record<string, string>>
  /** How long a request may wait where the server asks for it. */
  patienceMs(): number
  /** Milliseconds since 1970. */
  now(): number
  /** Takes what a person may want to know of the connection, a line each. */
  note(line: string): void
  /** Gives a transport in its place whose messages somebody sees. */
  watch?: ((transport: Transport) => Transport) | undefined
  /** Makes the requests; by default over node:http. `isLeaving` tells whether this process is. */
  fetch?: ((isLeaving: () => boolean) => FetchLike) | undefined
}

/**
 * A way to a server by its address. Nothing is asked of the server before the first message; an auth helper is asked at
 * once, and fails this as runAuthHelper() does.
 */
export async function openRemoteLink(options: RemoteLinkOptions, signal: AbortSignal): Promise<ServerLink> {
  const { target, note } = options
  const over = new AbortController()
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  const credentials = newCredentials(options, over.signal)
  await credentials.headers(signal).catch((reason: unknown) => {
    over.abort() // a helper that nobody waits for is ended
    throw lateHelper(reason)
  })
  let isLeaving = false
  let isGone = false
  let hint: string | undefined
  const raw = (options.fetch ?? nodeFetch)(() => isLeaving)
  const onGone = (error: CrabError) => {
    isGone = true
    hint = error.hint
    note(error.message)
    resolve(error.message) // before the SDK learns of it, and has other words for it
    void transport.close()
  }
  const transport = newTransport(options, { raw, credentials, onGone })
  const sayGoodbye = async () => {
    const session = isGone || !(transport instanceof HttpTransport) ? undefined : transport.session
    void transport.close()
    if (session)
      await deleteSession({ raw, target, headers: { ...target.headers, ...credentials.current, ...session } })
    resolve('the connection is closed')
    over.abort()
  }
  let closing: Promise<void> | undefined
  return {
    transport: options.watch?.(transport) ?? transport,
    pid: undefined,
    hasSpoken: true,
    ended,
    get hint() {
      return hint
    },
    get secrets() {
      return credentials.secrets
    },
    get refusedWith() {
      return transport instanceof HttpTransport ? transport.refusedWith : undefined
    },
    close() {
      closing ??= sayGoodbye()
      return closing
    },
    release() {
      isLeaving = true
      closing ??= sayGoodbye()
    },
  }
}

/** When the time of a start is over, it is the helper that took it. */
function lateHelper(reason: unknown): unknown {
  if (!(reason instanceof CrabError) || reason.kind !== 'timeout') return reason
  return new CrabError('timeout', `${reason.message}: its auth helper is not done`, { hint: HELPER_HINT })
}

function newCredentials(
  { target, processes, cwd, env, now, note }: RemoteLinkOptions,
  over: AbortSignal,
): Credentials {
  const { authHelper: argv, url } = target
  const own = { ...env, CRABTALK_MCP_URL: url }
  const ask = argv && (() => runAuthHelper({ processes, argv, cwd, env: own, now, note }, over))
  return new Credentials({ target, ask, now })
}

interface TransportParts {
  raw: FetchLike
  credentials: Credentials
  onGone(error: CrabError): void
}

function newTransport(
  options: RemoteLinkOptions,
  { raw, credentials, onGone }: TransportParts,
): HttpTransport | SseTransport {
  const { target, now, note, patienceMs } = options
  const asks = newCurrentRequest()
  const address = showTarget(target)
  const common = {
    fetch: raw,
    target,
    address,
    credentials,
    asks,
    now,
    note,
    patienceMs,
    onUnreachable: onGone,
  }
  if (options.over === 'http') {
    const fetch = remoteFetch(common)
    const inner = async () => (await import('./sdk-transports.ts')).newHttpTransport(target.url, fetch)
    return new HttpTransport({ inner, asks, address, patienceMs, note, onGone })
  }
  const fetch = remoteFetch({ ...common, onStreamOver: onGone })
  let failure: unknown
  const noting: FetchLike = async (url, init) => {
    try {
      return await fetch(url, init)
    } catch (reason) {
      failure = reason // the SDK keeps the words only
      throw reason
    }
  }
  const inner = async () => (await import('./sdk-transports.ts')).newSseTransport(target.url, noting)
  return new SseTransport({ inner, address, failure: () => failure })
}

interface Deletion {
  raw: FetchLike
  target: RemoteTarget
  headers: Readonly<Record<string, string>>
}

/** A server may not let us, or not answer: then it forgets the session by itself. */
async function deleteSession({ raw, target, headers }: Deletion): Promise<void> {
  const init = { method: 'DELETE', headers, signal: AbortSignal.timeout(GOODBYE_MS) }
  await raw(target.url, init)
    .then((response) => response.body?.cancel())
    .catch(() => undefined)
}

const GOODBYE_MS = 1_000
