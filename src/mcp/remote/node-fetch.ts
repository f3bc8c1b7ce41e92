import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { FetchLike } from '@modelcontextprotocol/client'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { NETWORK_REASONS } from '../../core/base/network-reasons.ts'

/**
 * Implements the part of `fetch` that MCP needs on node:http and node:https: a text body, a streamed
 * response, no redirects.
 *
 * The built-in fetch aborts a response that is silent for five minutes, which a server may be. Keep-alive,
 * proxies and certificates follow Node's global agents, as for model calls. Throws `unavailable`, saying in
 * lower case why the server cannot be reached, or as the signal does. A body that is cut off simply ends:
 * earlier events of a stream are not lost, and truncated JSON fails to parse. While `isLeaving` returns true,
 * a request does not keep the process alive.
 */
export function nodeFetch(isLeaving = () => false): FetchLike {
  return async (input, init = {}) => {
    const url = new URL(input)
    const signal = init.signal ?? undefined
    const options: RequestOptions = {
      method: init.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(signal && { signal }),
    }
    const body = typeof init.body === 'string' ? init.body : undefined
    try {
      return toResponse(await exchange({ url, options, body, isLeaving }))
    } catch (reason) {
      if (signal?.aborted) throw toCancelledError(signal)
      throw toUnreachable(reason, url)
    }
  }
}

interface Call {
  url: URL
  options: RequestOptions
  body: string | undefined
  isLeaving(): boolean
}

/**
 * Sends a request; retries it immediately when a kept-alive connection turns out to be closed, unless it
 * calls a tool.
 */
async function exchange(call: Call): Promise<IncomingMessage> {
  const isSecure = call.url.protocol === 'https:'
  const { request } = isSecure ? await import('node:https') : await import('node:http')
  const first = request(call.url, call.options)
  try {
    return await answerTo(first, call)
  } catch (reason) {
    const isStale =
      first.reusedSocket &&
      CONNECTION_CLOSED.has(readErrorCode(reason)) &&
      !call.body?.includes('"tools/call"')
    if (!isStale) throw reason
    return await answerTo(request(call.url, call.options), call)
  }
}

function answerTo(request: ClientRequest, { body, isLeaving }: Call): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request.once('response', resolve)
  request.once('socket', (socket) => isLeaving() && socket.unref())
  request.on('error', reject) // may fire after the response began: its body ends then
  request.end(body)
  return promise
}

function toResponse(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 0
  if (status < 200 || status > 599) {
    answer.destroy() // the body is not used
    throw new CrabError('failed', `it answered HTTP ${status}, which is no status`)
  }
  const headers = new Headers()
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const hasBody = ![204, 205, 304].includes(status)
  if (!hasBody) answer.resume()
  return new Response(hasBody ? toBody(answer) : null, {
    status,
    statusText: (answer.statusMessage ?? '').replaceAll(/[^\t\x20-\x7e]/g, '?'),
    headers,
  })
}

function toBody(answer: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isOver = false
  return new ReadableStream({
    start(controller) {
      const end = () => {
        if (!isOver) controller.close()
        isOver = true
      }
      answer.on('data', (chunk: Buffer<ArrayBuffer>) => {
        if (isOver) return
        controller.enqueue(chunk)
        if ((controller.desiredSize ?? 0) <= 0) answer.pause()
      })
      answer.on('error', end)
      answer.once('end', end)
      answer.once('close', end)
    },
    pull() {
      answer.resume()
    },
    cancel() {
      isOver = true
      answer.destroy()
    },
  })
}

/** Converts network errors to `unavailable`; errors in the request itself stay as they are. */
function toUnreachable(reason: unknown, { origin }: URL): unknown {
  const code = readErrorCode(reason)
  if (!(reason instanceof Error) || reason instanceof CrabError || code === '') return reason
  if (code.startsWith('ERR_INVALID_') || code.startsWith('ERR_UNESCAPED_')) return reason
  const known = code === 'EPROTO' && NO_TLS.test(reason.message) ? 'ERR_SSL_WRONG_VERSION_NUMBER' : code
  const hint = HINTS[known] ?? (CERTIFICATE.test(known) ? HINT_CERTIFICATE : undefined)
  const options = hint === undefined ? {} : { hint }
  const why = REASONS[known] ?? describeNetworkError(reason, code)
  return new CrabError('unavailable', `it cannot be reached at ${origin}: ${why}`, {
    cause: reason,
    ...options,
  })
}

/** Reduces an OpenSSL message to its reason. */
function describeNetworkError({ message }: Error, code: string): string {
  const [, tls = ''] = /:error:[^:]*:[^:]*:[^:]*:([^:]+)/.exec(message) ?? []
  if (tls !== '') return `TLS failed: ${tls.trim()}`
  return message.trim() === '' ? code : message.trim().replaceAll(/\s+/g, ' ')
}

/** Returns the error code of an attempt, or of the first of several attempts at the addresses of a host. */
function readErrorCode(reason: unknown): string {
  const { code, errors } = reason as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }
  return code ?? errors?.[0]?.code ?? ''
}

const CONNECTION_CLOSED = new Set(['ECONNRESET', 'EPIPE'])

const REASONS: Record<string, string> = {
  ...NETWORK_REASONS,
  HPE_INVALID_CONSTANT: 'it does not speak HTTP',
  HPE_INVALID_VERSION: 'it does not speak HTTP',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
}

const HINTS: Record<string, string> = {
  ECONNREFUSED: 'see that it runs, and that the port of its address is right',
  ENOTFOUND: 'see that the host of its address is right',
  ERR_SSL_WRONG_VERSION_NUMBER: 'its address may begin with http://',
  HPE_INVALID_CONSTANT: 'its address may begin with https://',
}
const NO_TLS = /wrong version number|packet length too long/
const CERTIFICATE = /CERT|UNABLE_TO_VERIFY/
const HINT_CERTIFICATE = 'NODE_EXTRA_CA_CERTS names a file of further certificates to trust'
