import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { toCancelledError } from '../base/abortable.ts'
import { CrabError } from '../base/errors.ts'
import { toBodyStream } from '../base/http/body-stream.ts'
import { PROXY_HINT, readNetworkCode, toNetworkFailure } from '../base/http/network-failure.ts'
import { sendRequest } from '../base/http/send-request.ts'
import { LightHeaders } from './light-headers.ts'

/** The time limits of a request, and the hint for a server that cannot be reached. */
export interface HttpOptions {
  /** The time from sending the request to the headers of the answer. */
  firstByteMs: number
  /**
   * The time between two reads of the answer's body; time in which the consumer does not ask for data does
   * not count.
   */
  idleMs: number
  hint?: string
}

/**
 * The part of `fetch` that a model call needs, on node:http and node:https: a string body, a streamed answer.
 *
 * It exists because the built-in one takes 40 ms to load (ADR 0041). Redirects are not followed; such an
 * answer is returned as it is. Throws CrabErrors: `unavailable` (refused, unknown host), `config` (not HTTP, an
 * invalid certificate), `timeout`, and `cancelled` after an abort. A truncated body simply ends, because a web
 * stream that fails drops the data it has not delivered yet: readers must recognize the end of an answer by its
 * content.
 */
export function httpFetch(limits: HttpOptions): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const call: Call = { url: new URL(String(input)), limits, signal: init.signal ?? undefined }
    const { url, signal } = call
    const { firstByteMs: ms } = limits
    try {
      const answer = await sendRequest({
        url,
        method: init.method,
        headers: { 'accept-encoding': 'identity', ...(init.headers as OutgoingHttpHeaders | undefined) },
        body: typeof init.body === 'string' ? init.body : undefined,
        signal,
        isRepeatable: true,
        firstByte: { ms, toError: () => toSilenceError(`Cannot get an answer from ${url.origin}`, ms) },
      })
      return toLightResponse(answer, call)
    } catch (reason) {
      throw toCallError(reason, call)
    }
  }
}

/** Reads a whole body as text. */
export async function readBodyText(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const chunks = await Array.fromAsync(body ?? [])
  return Buffer.concat(chunks).toString()
}

interface Call {
  url: URL
  limits: HttpOptions
  signal: AbortSignal | undefined
}

function toLightResponse(answer: IncomingMessage, call: Call): Response {
  const status = answer.statusCode ?? 0
  const headers = Object.entries(answer.headersDistinct).map(([name, values]): [string, string] => [
    name,
    values?.join(', ') ?? '',
  ])
  const { idleMs: ms } = call.limits
  const response: Pick<Response, 'ok' | 'status' | 'statusText' | 'headers' | 'body'> = {
    ok: status >= 200 && status < 300,
    status,
    statusText: answer.statusMessage ?? '',
    headers: new LightHeaders(headers),
    body: toBodyStream(answer, {
      pieceBytes: PIECE_BYTES,
      silence: { ms, toError: () => toSilenceError(`The answer from ${call.url.origin} stopped`, ms) },
      toError: (reason) => (isTruncated(reason, call) ? undefined : toCallError(reason, call)),
    }),
  }
  return response as Response // the rest of the class would load the built-in client
}

function isTruncated(reason: unknown, { signal }: Call): boolean {
  return !signal?.aborted && readNetworkCode(reason) === 'ECONNRESET'
}

function toSilenceError(what: string, ms: number): CrabError {
  return new CrabError(
    'timeout',
    `${what}: nothing arrived for ${ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`}`,
  )
}

/** Converts a system's network error to a CrabError; leaves bugs of this program as they are. */
function toCallError(reason: unknown, { url, limits, signal }: Call): unknown {
  if (signal?.aborted) return toCancelledError(signal)
  const failure = toNetworkFailure(reason, url)
  if (!failure) return reason
  const hint = failure.isProxy ? PROXY_HINT : limits.hint
  const options = { cause: reason, ...(hint !== undefined && { hint }) }
  // An invalid request is, for example, one with a line break in its key.
  if (failure.isInvalidRequest)
    return new CrabError('config', `Cannot ask ${url.origin}: ${failure.error.message}`, options)
  const kind = failure.isLasting ? 'config' : 'unavailable'
  return new CrabError(kind, `Cannot reach ${url.origin}: ${failure.reason}`, options)
}

/** The size of a piece: about 40 events, which take a parser one or two milliseconds. */
const PIECE_BYTES = 8 * 1024
