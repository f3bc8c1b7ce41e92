import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, RequestOptions } from 'node:http'
import { CrabError } from '../base/errors.ts'
import { toCancelled } from './cancelled.ts'
import { LightHeaders } from './light-headers.ts'

/** How long a server may be silent, and what to tell a person when it cannot be reached. */
export interface HttpOptions {
  /** From sending the request to the answer's headers. */
  firstByteMs: number
  /** Between two reads of the answer's body; time in which nobody asks for more does not count. */
  idleMs: number
  hint?: string
}

/**
 * The part of `fetch` that a model call needs, on node:http and node:https: a string body, a streamed answer.
 *
 * It exists because the built-in one takes 40 ms to load. Connections are kept alive, and proxied, by Node's global
 * agents. Redirects are not followed: such an answer is handed on. Failures are CrabErrors: `unavailable` (refused,
 * unknown host, TLS), `timeout`, and `cancelled` after an abort. A body that is cut just ends, because a web stream
 * that fails drops what it had not delivered yet: whoever reads must know the end of an answer by its content.
 */
export function httpFetch(options: HttpOptions): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const url = new URL(String(input))
    const signal = init.signal ?? undefined
    const request: RequestOptions = {
      method: init.method ?? 'GET',
      headers: { 'accept-encoding': 'identity', ...(init.headers as OutgoingHttpHeaders | undefined) },
      ...(signal && { signal }),
    }
    const body = typeof init.body === 'string' ? Buffer.from(init.body) : undefined
    try {
      return toResponse(await exchange(url, request, body, options), url, options, signal)
    } catch (reason) {
      throw toNetworkError(reason, url, options.hint, signal)
    }
  }
}

/** A whole body as text. */
export async function readText(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const chunks = await Array.fromAsync(body ?? [])
  return Buffer.concat(chunks).toString()
}

/** Sends, and sends again at once when a kept connection turns out to have been closed meanwhile. */
async function exchange(
  url: URL,
  options: RequestOptions,
  body: Buffer | undefined,
  limits: HttpOptions,
): Promise<IncomingMessage> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const first = request(url, options)
  try {
    return await answerOf(first, body, url, limits)
  } catch (reason) {
    const stale = first.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(codeOf(reason))
    if (!stale) throw reason
    return await answerOf(request(url, options), body, url, limits)
  }
}

function answerOf(
  request: ClientRequest,
  body: Buffer | undefined,
  url: URL,
  { firstByteMs }: HttpOptions,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const timer = setTimeout(
    () => request.destroy(silence(`Cannot get an answer from ${url.origin}`, firstByteMs)),
    firstByteMs,
  )
  request.once('response', resolve)
  request.on('error', reject) // may come after the answer began: its body reports it then
  request.end(body)
  return promise.finally(() => clearTimeout(timer))
}

function toResponse(
  answer: IncomingMessage,
  url: URL,
  options: HttpOptions,
  signal: AbortSignal | undefined,
): Response {
  const status = answer.statusCode ?? 0
  const headers = Object.entries(answer.headersDistinct).map(([name, values]): [string, string] => [
    name,
    values?.join(', ') ?? '',
  ])
  const response: Pick<Response, 'ok' | 'status' | 'statusText' | 'headers' | 'body'> = {
    ok: status >= 200 && status < 300,
    status,
    statusText: answer.statusMessage ?? '',
    headers: new LightHeaders(headers),
    body: toBody(answer, url, options, signal),
  }
  return response as Response // the rest of the class would load the built-in client
}

function toBody(
  answer: IncomingMessage,
  url: URL,
  { idleMs, hint }: HttpOptions,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const watch = setTimeout(() => {
    if (answer.isPaused()) watch.refresh()
    else answer.destroy(silence(`The answer from ${url.origin} stopped`, idleMs))
  }, idleMs)
  return new ReadableStream({
    start(controller) {
      answer.on('data', (chunk: Buffer<ArrayBuffer>) => {
        watch.refresh()
        controller.enqueue(chunk)
        if ((controller.desiredSize ?? 0) <= 0) answer.pause()
      })
      answer.once('end', () => controller.close())
      answer.once('error', (reason) => {
        const isCut = !signal?.aborted && codeOf(reason) === 'ECONNRESET'
        if (isCut) controller.close()
        else controller.error(toNetworkError(reason, url, hint, signal))
      })
      answer.once('close', () => clearTimeout(watch))
    },
    pull() {
      watch.refresh()
      answer.resume()
    },
    cancel() {
      answer.destroy()
    },
  })
}

function silence(what: string, ms: number): CrabError {
  return new CrabError('timeout', `${what}: nothing came for ${ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`}`)
}

/** What the system says of the network, as a CrabError; our own bugs stay what they are. */
function toNetworkError(
  reason: unknown,
  url: URL,
  hint: string | undefined,
  signal: AbortSignal | undefined,
): unknown {
  if (signal?.aborted) return toCancelled(signal)
  const code = codeOf(reason)
  if (!(reason instanceof Error) || reason instanceof CrabError || code === '') return reason
  const options = { cause: reason, ...(hint !== undefined && { hint }) }
  if (code.startsWith('ERR_INVALID_')) {
    return new CrabError('config', `Cannot ask ${url.origin}: ${reason.message}`, options) // a key with a line break, say
  }
  return new CrabError(
    'unavailable',
    `Cannot reach ${url.origin}: ${REASONS[code] ?? reason.message}`,
    options,
  )
}

function codeOf(reason: unknown): string {
  return (reason as NodeJS.ErrnoException | undefined)?.code ?? ''
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'the host name could not be looked up',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is down',
  HPE_INVALID_CONSTANT: 'the server does not speak HTTP',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS',
}
