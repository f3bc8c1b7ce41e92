import { setTimeout as sleep } from 'node:timers/promises'
import type { FetchLike } from '@modelcontextprotocol/client'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { VERSION } from '../../core/base/version.ts'
import type { RemoteTarget } from '../fingerprint.ts'
import { boundedBody, readBodyStart } from './bounded-body.ts'
import type { Credentials } from './credentials.ts'
import { describeChallenge, describeResponse } from './describe-response.ts'
import { type Authentication, adviseCredentials, findAuthentication } from './login-hint.ts'
import type { CurrentRequest } from './pending-request.ts'

export interface RemoteFetchOptions {
  fetch: FetchLike
  target: RemoteTarget
  /** The URL without secrets. */
  address: string
  credentials: Credentials
  asks: CurrentRequest
  /**
   * Returns the longest time, in milliseconds, that a request waits when the server asks to be retried later.
   */
  patienceMs(): number
  /** Milliseconds since 1970. */
  now(): number
  note(line: string): void
  /** Called when the server cannot be reached. */
  onUnreachable(error: CrabError): void
  /**
   * Set for a server whose single event stream is the connection (2024-11-05): called with the reason when it
   * ends.
   */
  onStreamOver?: ((error: CrabError) => void) | undefined
}

/**
 * Creates the fetch function for one server: adds its headers and credentials, renews rejected credentials
 * once, and retries after the pause the server asks for, if there is time. Response bodies are bounded.
 *
 * Responses that MCP defines are passed through. Throws `credentials` (401), `throttled` (the requested pause
 * is too long), `failed` (403, 5xx), `unavailable` (cannot be reached) or as the signal does.
 */
export function remoteFetch(options: RemoteFetchOptions): FetchLike {
  const origin = new URL(options.target.url).origin
  return async (url, init = {}) => {
    if (new URL(url).origin !== origin) {
      throw new CrabError(
        'failed',
        `it names another server, ${new URL(url).origin}, which does not get its credentials`,
      )
    }
    const signal = init.signal ?? new AbortController().signal
    return await ask(options, { url, init, signal })
  }
}

interface Request {
  url: string | URL
  init: RequestInit
  signal: AbortSignal
}

async function ask(options: RemoteFetchOptions, request: Request): Promise<Response> {
  const { credentials, note, now } = options
  const until = now() + options.patienceMs()
  let isRenewed = false
  for (;;) {
    const { response, used } = await askOnce(options, request)
    if (response.status === 401 && credentials.canRenew && !isRenewed) {
      isRenewed = true
      await response.body?.cancel()
      note('it refused its credentials (HTTP 401): running the auth helper again')
      await credentials.renew(used, { isRefused: true }, request.signal)
      continue
    }
    const pauseMs = BUSY.has(response.status)
      ? retryAfterMs(response.headers.get('retry-after'), now())
      : undefined
    if (pauseMs === undefined || now() + pauseMs >= until)
      return await handleResponse(options, response, pauseMs)
    await response.body?.cancel()
    note(`it asks to wait ${pauseMs / 1000} s (HTTP ${response.status})`)
    await sleep(pauseMs, undefined, { signal: request.signal, ref: false }).catch(() => {
      throw toCancelledError(request.signal)
    })
  }
}

async function askOnce(
  { fetch, target, credentials, onUnreachable }: RemoteFetchOptions,
  { url, init, signal }: Request,
): Promise<{ response: Response; used: unknown }> {
  const credentialHeaders = await credentials.headers(signal)
  const used = credentials.latest
  const headers = new Headers({ 'user-agent': `crabtalk/${VERSION}` })
  for (const part of [target.headers, credentialHeaders])
    for (const [name, value] of Object.entries(part)) headers.set(name, value)
  new Headers(init.headers).forEach((value, name) => {
    headers.set(name, value)
  })
  headers.set('accept-encoding', 'identity')
  try {
    return { response: await fetch(url, { ...init, headers }), used }
  } catch (reason) {
    if (!signal.aborted && reason instanceof CrabError && reason.kind === 'unavailable') onUnreachable(reason)
    throw reason
  }
}

/** Passes a response that the SDK handles, with a bounded body; throws for the others. */
async function handleResponse(
  options: RemoteFetchOptions,
  response: Response,
  pause: number | undefined,
): Promise<Response> {
  const { status, statusText, headers, body } = response
  if (response.ok) {
    const current = options.asks.getStore()
    const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
    if (current && isStream) current.isStreamed = true
    const onTooLong = (error: CrabError) =>
      isStream && options.onStreamOver ? options.onStreamOver(error) : current?.fail(error)
    const onEnd = () =>
      isStream && options.onStreamOver?.(new CrabError('unavailable', 'its stream of events ended'))
    if (!body) return response
    return new Response(boundedBody(body, { isStream, onTooLong, onEnd }), { status, statusText, headers })
  }
  const text = await readBodyStart(body)
  const { target, address, credentials } = options
  const challenge = status === 403 ? describeChallenge(headers.get('www-authenticate')) : ''
  const words = credentials.hide(describeResponse({ status, statusText, body: text }, address) + challenge)
  if (status === 401) {
    options.note(words)
    throw toCredentialsError(target, words)
  }
  if (pause !== undefined) throw toThrottledError(words, pause)
  const isOurs = status === 403 || status === 429 || status >= 500 || (options.onStreamOver && status >= 400)
  if (isOurs) throw new CrabError('failed', words)
  return new Response(text, { status, statusText, headers })
}

function toCredentialsError(target: RemoteTarget, words: string): CrabError {
  const what = REFUSED[findAuthentication(target)]
  return new CrabError('credentials', `${what}: ${words}`, { hint: adviseCredentials(target) })
}

const REFUSED: Record<Authentication, string> = {
  none: 'it requires authentication',
  login: 'its login was refused',
  token: 'its token was refused',
  credentials: 'its credentials were refused',
}

function toThrottledError(words: string, pause: number): CrabError {
  return new CrabError('throttled', `${words}; it asks to wait ${Math.ceil(pause / 1000)} s`, {
    retryAfterMs: pause,
  })
}

const BUSY = new Set([429, 503])

/**
 * Parses Retry-After (RFC 9110, section 10.2.3) to milliseconds, from a quarter of a second to an hour;
 * undefined when it is absent or invalid.
 */
export function retryAfterMs(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  const text = value.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, MIN_MS), MAX_MS)
}

const MIN_MS = 250
/** Caps unreasonable pauses. */
const MAX_MS = 3_600_000
