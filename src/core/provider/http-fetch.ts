import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, RequestOptions } from 'node:http'
import { toCancelledError } from '../base/abortable.ts'
import { CrabError } from '../base/errors.ts'
import { NETWORK_REASONS } from '../base/network-reasons.ts'
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
 * It exists because the built-in one takes 40 ms to load (ADR 0041). Node's global agents keep connections
 * alive and proxy them. Redirects are not followed; such an answer is returned as it is. Throws CrabErrors:
 * `unavailable` (refused, unknown host, TLS), `timeout`, and `cancelled` after an abort. A truncated body
 * simply ends, because a web stream that fails drops the data it has not delivered yet: readers must
 * recognize the end of an answer by its content.
 */
export function httpFetch(limits: HttpOptions): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const call: Call = { url: new URL(String(input)), limits, signal: init.signal ?? undefined }
    const options: RequestOptions = {
      method: init.method ?? 'GET',
      headers: { 'accept-encoding': 'identity', ...(init.headers as OutgoingHttpHeaders | undefined) },
      ...(call.signal && { signal: call.signal }),
    }
    const body = typeof init.body === 'string' ? Buffer.from(init.body) : undefined
    try {
      return toResponse(await exchange(call, options, body), call)
    } catch (reason) {
      throw toNetworkError(reason, call)
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

/** Sends a request, and immediately retries once when a kept-alive connection turns out to be closed. */
async function exchange(
  call: Call,
  options: RequestOptions,
  body: Buffer | undefined,
): Promise<IncomingMessage> {
  const isSecure = call.url.protocol === 'https:'
  const { request } = isSecure ? await import('node:https') : await import('node:http')
  const first = request(call.url, options)
  try {
    return await answerTo(first, body, call)
  } catch (reason) {
    const stale = first.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(readCode(reason))
    if (!stale) throw reason
    return await answerTo(request(call.url, options), body, call)
  }
}

function answerTo(request: ClientRequest, body: Buffer | undefined, call: Call): Promise<IncomingMessage> {
  const { firstByteMs } = call.limits
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const timer = setTimeout(
    () => request.destroy(silenceError(`Cannot get an answer from ${call.url.origin}`, firstByteMs)),
    firstByteMs,
  )
  request.once('response', resolve)
  request.on('error', reject) // errors may follow after the answer began; then its body reports them
  request.end(body)
  return promise.finally(() => clearTimeout(timer))
}

function toResponse(answer: IncomingMessage, call: Call): Response {
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
    body: toBody(answer, call),
  }
  return response as Response // the rest of the class would load the built-in client
}

function toBody(answer: IncomingMessage, call: Call): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { idleMs } = call.limits
  let feed: PieceFeed | undefined
  const watch = setTimeout(() => {
    if (feed?.isStarved) answer.destroy(silenceError(`The answer from ${call.url.origin} stopped`, idleMs))
    else watch.refresh()
  }, idleMs)
  return new ReadableStream({
    start(controller) {
      const pieces = new PieceFeed(controller, answer)
      feed = pieces
      answer.on('data', (chunk: Buffer<ArrayBuffer>) => {
        watch.refresh()
        pieces.add(chunk)
      })
      answer.once('end', () => pieces.end())
      answer.once('error', (reason) => {
        const isCut = !call.signal?.aborted && readCode(reason) === 'ECONNRESET'
        if (isCut) pieces.end()
        else controller.error(toNetworkError(reason, call))
      })
      answer.once('close', () => clearTimeout(watch))
    },
    pull() {
      watch.refresh()
      feed?.next()
    },
    cancel() {
      answer.destroy()
    },
  })
}

/**
 * Feeds received data to a stream in small pieces, one per turn of the event loop. A read of 64 KiB takes an
 * event parser tens of milliseconds, which would block this process.
 */
class PieceFeed {
  readonly #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>
  readonly #answer: IncomingMessage
  /** The received chunks that are not delivered yet. */
  #waiting: Buffer<ArrayBuffer>[] = []
  #bytes = 0
  /** Whether a piece was delivered in this turn of the event loop. */
  #hasDelivered = false
  #hasEnded = false

  constructor(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>, answer: IncomingMessage) {
    this.#controller = controller
    this.#answer = answer
  }

  /** Whether the stream wants data and none is available. */
  get isStarved(): boolean {
    return this.#bytes === 0 && this.#hasDemand
  }

  add(chunk: Buffer<ArrayBuffer>): void {
    this.#waiting.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes >= MOST_BYTES) this.#answer.pause()
    this.next()
  }

  /** Delivers a piece, at most one per turn; also called when the stream wants more. */
  next(): void {
    if (this.#hasDelivered || this.#bytes === 0 || !this.#hasDemand) return
    this.#hasDelivered = true
    setImmediate(() => {
      this.#hasDelivered = false
      this.next()
    })
    this.#controller.enqueue(this.#takePiece())
    if (this.#bytes < PIECE_BYTES) this.#answer.resume()
    this.#closeAtEnd()
  }

  end(): void {
    this.#hasEnded = true
    this.#closeAtEnd()
  }

  get #hasDemand(): boolean {
    return (this.#controller.desiredSize ?? 0) > 0
  }

  #closeAtEnd(): void {
    if (this.#hasEnded && this.#bytes === 0) this.#controller.close()
  }

  /** Joins small chunks, such as one per event, and splits large ones. */
  #takePiece(): Buffer<ArrayBuffer> {
    let [bytes, count] = [0, 0]
    while (count < this.#waiting.length && bytes < PIECE_BYTES) bytes += this.#waiting[count++]!.length
    const chunks = this.#waiting.splice(0, count)
    const [first] = chunks
    const all = chunks.length === 1 && first ? first : Buffer.concat(chunks, bytes)
    if (bytes > PIECE_BYTES) this.#waiting.unshift(all.subarray(PIECE_BYTES))
    const piece = all.subarray(0, PIECE_BYTES)
    this.#bytes -= piece.length
    return piece
  }
}

/** The number of waiting bytes at which reading pauses; data already in the HTTP parser may exceed it. */
const MOST_BYTES = 64 * 1024
/** The size of a piece: about 40 events, which take a parser one or two milliseconds. */
const PIECE_BYTES = 8 * 1024

function silenceError(what: string, ms: number): CrabError {
  return new CrabError('timeout', `${what}: nothing came for ${ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`}`)
}

/** Converts a system's network error to a CrabError; leaves bugs of this program as they are. */
function toNetworkError(reason: unknown, { url, limits, signal }: Call): unknown {
  if (signal?.aborted) return toCancelledError(signal)
  const code = readCode(reason)
  if (!(reason instanceof Error) || reason instanceof CrabError || code === '') return reason
  const options = { cause: reason, ...(limits.hint !== undefined && { hint: limits.hint }) }
  if (code.startsWith('ERR_INVALID_')) {
    // for example a key with a line break
    return new CrabError('config', `Cannot ask ${url.origin}: ${reason.message}`, options)
  }
  return new CrabError(
    'unavailable',
    `Cannot reach ${url.origin}: ${REASONS[code] ?? reason.message}`,
    options,
  )
}

function readCode(reason: unknown): string {
  return (reason as NodeJS.ErrnoException | undefined)?.code ?? ''
}

const REASONS: Record<string, string> = {
  ...NETWORK_REASONS,
  HPE_INVALID_CONSTANT: 'the server does not speak HTTP',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS',
}
