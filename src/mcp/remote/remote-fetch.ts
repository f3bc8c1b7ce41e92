import { setTimeout as sleep } from 'node:timers/promises'
import type { FetchLike } from '@modelcontextprotocol/client'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { VERSION } from '../../core/base/version.ts'
import type { RemoteTarget } from '../fingerprint.ts'
import { boundedBody, readBodyStart } from './bounded-body.ts'
import type { Credentials } from './credentials.ts'
import { describeResponse } from './describe-response.ts'
import type { CurrentRequest } from './pending-request.ts'
import { retryAfterMs } from './retry-after.ts'

export interface RemoteFetchOptions {
  fetch: FetchLike
  target: RemoteTarget
  /** As people may see it. */
  address: string
  credentials: Credentials
  asks: CurrentRequest
  /** How long a request may wait where the server asks for it. */
  patienceMs(): number
  /** Milliseconds since 1970. */
  now(): number
  note(line: string): void
  /** Told when the server cannot be reached. */
  onUnreachable(error: CrabError): void
  /** Of a server whose one stream is the connection (2024-11-05): told when that ends, and with why if it was refused. */
  onStreamOver?: ((error: CrabError) => void) | undefined
}

/**
 * Makes the requests of one server: with its headers and credentials, renewed once where they are refused, and again
 * after a while where it asks for that and there is time. Answers are bounded.
 *
 * What MCP has a meaning for is handed on. Fails with `credentials` (401), `throttled` (it asks for more time than there
 * is), `failed` (403, 5xx), `unavailable` (it cannot be reached) or as the signal says.
 */
export function remoteFetch(options: RemoteFetchOptions): FetchLike {
  const origin = new URL(options.target.url).origin
  return async (url, init = {}) => {
    if (new URL(url).origin !== origin) {
      throw new CrabError(
        'failed',
        `it names another server, ${new URL(url).origin}, which gets none of its credentials`,
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
      note('it refused its credentials (HTTP 401): the auth helper is asked again')
      await credentials.renew(used, request.signal)
      continue
    }
    const pause = BUSY.has(response.status)
      ? retryAfterMs(response.headers.get('retry-after'), now())
      : undefined
    if (pause === undefined || now() + pause >= until) return await judge(options, response, pause)
    await response.body?.cancel()
    note(`it asks to be left alone for ${pause / 1000} s (HTTP ${response.status})`)
    await sleep(pause, undefined, { signal: request.signal, ref: false }).catch(() => {
      throw toCancelledError(request.signal)
    })
  }
}

async function askOnce(
  { fetch, target, credentials, onUnreachable }: RemoteFetchOptions,
  { url, init, signal }: Request,
): Promise<{ response: Response; used: unknown }> {
  const given = await credentials.headers(signal)
  const used = credentials.latest
  const headers = new Headers({ 'user-agent': `crabtalk/${VERSION}` })
  for (const part of [target.headers, given])
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

/** An answer as the SDK may have it. */
async function judge(
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
  const words = credentials.hide(describeResponse({ status, statusText, body: text }, address))
  if (status === 401) {
    options.note(words)
    throw needsAuth(target, words)
  }
  if (pause !== undefined) throw busy(words, pause)
  const isOurs = status === 403 || status === 429 || status >= 500 || (options.onStreamOver && status >= 400)
  if (isOurs) throw new CrabError('failed', words)
  return new Response(text, { status, statusText, headers })
}

function needsAuth({ url, auth, authHelper, headers }: RemoteTarget, words: string): CrabError {
  const isToken = auth !== undefined || authHelper !== undefined
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const hasOwn = names.includes('authorization') || (URL.parse(url)?.username ?? '') !== ''
  const what = isToken
    ? 'its token was refused'
    : hasOwn
      ? 'its credentials were refused'
      : 'it wants to know who asks'
  return new CrabError('credentials', `${what}: ${words}`, {
    hint:
      isToken || hasOwn
        ? isToken
          ? 'give it a token that is still good'
          : 'give it credentials that are still good'
        : 'give its entry a token as "auth", or an "auth_helper"',
  })
}

function busy(words: string, pause: number): CrabError {
  return new CrabError('throttled', `${words}; it asks to be left alone for ${Math.ceil(pause / 1000)} s`, {
    retryAfterMs: pause,
  })
}

const BUSY = new Set([429, 503])
