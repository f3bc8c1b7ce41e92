import type { IncomingMessage } from 'node:http'

/** The pace and the failures of a body. */
export interface BodyStreamOptions {
  /** The most bytes that the stream delivers in one turn of the event loop. */
  pieceBytes: number
  /**
   * The longest time between two reads from the network; time in which the consumer does not ask for data does
   * not count. Without it there is no limit.
   */
  silence?: { ms: number; toError(): Error }
  /** Converts an error of the connection to that of the stream; undefined ends the stream normally. */
  toError(reason: unknown): unknown
}

/**
 * Converts the body of an answer to a web stream, which delivers it in small pieces, one per turn of the event
 * loop. A read of 64 KiB can take a parser tens of milliseconds, which would block this process.
 *
 * No more is read from the network than the consumer asks for. Cancelling the stream closes the connection. A
 * web stream that fails drops the data it has not delivered yet; one that ends does not.
 */
export function toBodyStream(
  answer: IncomingMessage,
  { pieceBytes, silence, toError }: BodyStreamOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let feed: PieceFeed | undefined
  const watch =
    silence &&
    setTimeout(() => {
      if (feed?.isStarved) answer.destroy(silence.toError())
      else watch?.refresh()
    }, silence.ms)
  return new ReadableStream({
    start(controller) {
      const pieces = new PieceFeed(controller, answer, pieceBytes)
      feed = pieces
      answer.on('data', (chunk: Buffer<ArrayBuffer>) => {
        watch?.refresh()
        pieces.add(chunk)
      })
      answer.once('end', () => pieces.end())
      answer.on('error', (reason) => pieces.end(toError(reason)))
      answer.once('close', () => {
        clearTimeout(watch)
        pieces.end()
      })
    },
    pull() {
      watch?.refresh()
      feed?.next()
    },
    cancel() {
      feed?.discard()
      answer.destroy()
    },
  })
}

/** Feeds received data to a stream, one piece per turn of the event loop. */
class PieceFeed {
  readonly #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>
  readonly #answer: IncomingMessage
  readonly #pieceBytes: number
  /** The received chunks that are not delivered yet. */
  #waiting: Buffer<ArrayBuffer>[] = []
  #bytes = 0
  /** Whether a piece was delivered in this turn of the event loop. */
  #hasDelivered = false
  /** `ended`: everything was received; `closed`: the stream ended, failed or was cancelled. */
  #state: 'open' | 'ended' | 'closed' = 'open'

  constructor(
    controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
    answer: IncomingMessage,
    pieceBytes: number,
  ) {
    this.#controller = controller
    this.#answer = answer
    this.#pieceBytes = pieceBytes
  }

  /** Whether the stream wants data and none is available. */
  get isStarved(): boolean {
    return this.#bytes === 0 && this.#hasDemand
  }

  add(chunk: Buffer<ArrayBuffer>): void {
    if (this.#state !== 'open') return
    this.#waiting.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes >= MAX_WAITING_BYTES) this.#answer.pause()
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
    if (this.#bytes < this.#pieceBytes) this.#answer.resume()
    this.#closeAtEnd()
  }

  /** Ends the stream after the waiting data, or with an error immediately. Idempotent. */
  end(error?: unknown): void {
    if (this.#state !== 'open') return
    if (error === undefined) {
      this.#state = 'ended'
      this.#closeAtEnd()
    } else {
      this.discard()
      this.#controller.error(error)
    }
  }

  /** Drops the waiting data. */
  discard(): void {
    this.#state = 'closed'
    this.#waiting = []
    this.#bytes = 0
  }

  get #hasDemand(): boolean {
    return (this.#controller.desiredSize ?? 0) > 0
  }

  #closeAtEnd(): void {
    if (this.#state !== 'ended' || this.#bytes > 0) return
    this.#state = 'closed'
    this.#controller.close()
  }

  /** Joins small chunks, such as one per event, and splits large ones. */
  #takePiece(): Buffer<ArrayBuffer> {
    const limit = this.#pieceBytes
    let [bytes, count] = [0, 0]
    while (count < this.#waiting.length && bytes < limit) bytes += this.#waiting[count++]!.length
    const chunks = this.#waiting.splice(0, count)
    const [first] = chunks
    const all = chunks.length === 1 && first ? first : Buffer.concat(chunks, bytes)
    if (bytes > limit) this.#waiting.unshift(all.subarray(limit))
    const piece = all.subarray(0, limit)
    this.#bytes -= piece.length
    return piece
  }
}

/** The number of waiting bytes at which reading pauses; data already in the HTTP parser may exceed it. */
const MAX_WAITING_BYTES = 64 * 1024
