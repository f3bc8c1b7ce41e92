import type { FetchLike, Transport } from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import type { ProcessHost } from '../../core/process/types.ts'
import type { ServerLink } from '../connection/link.ts'
import type { RemoteTarget } from '../fingerprint.ts'
import { type HelperProgram, isLoginHelper } from '../helper-program.ts'
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
  /** The transport; `sse` is for servers that only speak MCP 2024-11-05. */
  protocol: 'http' | 'sse'
  processes: ProcessHost
  /** The working directory of an auth helper; absolute. */
  cwd: string
  /** The auth helper of the target, ready to be run; undefined when there is none. */
  helper: HelperProgram | undefined
  /**
   * Returns the longest time, in milliseconds, that a request waits when the server asks to be retried later.
   */
  patienceMs(): number
  /** Milliseconds since 1970. */
  now(): number
  /** Receives notes about the connection for the user, one line each. */
  note(line: string): void
  /** Returns a transport that reports its messages to the frame tap. */
  watch?: ((transport: Transport) => Transport) | undefined
  /**
   * Creates the fetch function; by default nodeFetch(). `isLeaving` returns whether this process is exiting.
   */
  fetch?: ((isLeaving: () => boolean) => FetchLike) | undefined
}

/**
 * Opens a link to a server by its URL. Nothing is sent to the server before the first message; an auth helper
 * runs immediately, and its failure is thrown as by runAuthHelper().
 */
export async function openRemoteLink(options: RemoteLinkOptions, signal: AbortSignal): Promise<ServerLink> {
  const { target, note } = options
  const shutdown = new AbortController()
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  const credentials = newCredentials(options, shutdown.signal)
  await credentials.headers(signal).catch((reason: unknown) => {
    shutdown.abort() // ends the helper, whose result is no longer awaited
    throw toHelperTimeout(reason)
  })
  let isLeaving = false
  let isGone = false
  let hint: string | undefined
  const raw = (options.fetch ?? nodeFetch)(() => isLeaving)
  const onGone = (error: CrabError) => {
    isGone = true
    hint = error.hint
    note(error.message)
    resolve(error.message) // before the SDK reports the end with a message of its own
    void transport.close()
  }
  const transport = newTransport(options, { raw, credentials, onGone })
  const shutDown = async () => {
    const session = isGone || !(transport instanceof HttpTransport) ? undefined : transport.session
    void transport.close()
    if (session)
      await deleteSession({ raw, target, headers: { ...target.headers, ...credentials.current, ...session } })
    resolve('the connection is closed')
    shutdown.abort()
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
      closing ??= shutDown()
      return closing
    },
    release() {
      isLeaving = true
      closing ??= shutDown()
    },
  }
}

/** Attributes a timeout of the start to the helper. */
function toHelperTimeout(reason: unknown): unknown {
  if (!(reason instanceof CrabError) || reason.kind !== 'timeout') return reason
  return new CrabError('timeout', `${reason.message}: its auth helper is still running`, {
    hint: HELPER_HINT,
  })
}

function newCredentials(
  { target, processes, cwd, helper, now, note }: RemoteLinkOptions,
  shutdown: AbortSignal,
): Credentials {
  if (!helper) return new Credentials({ target, ask: undefined, now })
  const { argv } = helper
  const isLogin = isLoginHelper(target.authHelper)
  const ask = (refused = '') => {
    const env = { ...helper.env, CRABTALK_MCP_URL: target.url, CRABTALK_MCP_REFUSED: refused }
    return runAuthHelper({ processes, argv, isLogin, cwd, env, now, note }, shutdown)
  }
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
  if (options.protocol === 'http') {
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
      failure = reason // the SDK keeps only the message
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

/** Deletes the session, ignoring failures: a server that refuses or does not answer expires it by itself. */
async function deleteSession({ raw, target, headers }: Deletion): Promise<void> {
  const init = { method: 'DELETE', headers, signal: AbortSignal.timeout(DELETE_TIMEOUT_MS) }
  await raw(target.url, init)
    .then((response) => response.body?.cancel())
    .catch(() => undefined)
}

const DELETE_TIMEOUT_MS = 1_000
