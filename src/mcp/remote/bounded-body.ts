import { CrabError } from '../../core/base/errors.ts'

interface BodyOptions {
  /** Whether it is a stream of server-sent events. */
  isStream: boolean
  onTooLong(error: CrabError): void
  /** Called when the body ended, also when the connection was cut. */
  onEnd(): void
}

/** Limits a body to 64 MiB; in a stream of events the limit applies to each event. */
export function boundedBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { isStream, onTooLong, onEnd }: BodyOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const event = new EventLength()
  let size = 0
  return body.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        size = isStream ? event.push(chunk) : size + chunk.length
        if (size <= MAX_MESSAGE_BYTES) return controller.enqueue(chunk)
        const error = new CrabError(
          'failed',
          `it sent a message of more than ${MAX_MESSAGE_BYTES / 2 ** 20} MiB`,
        )
        onTooLong(error)
        throw error
      },
      flush: onEnd,
    }),
  )
}

/** Reads up to 16 KiB of a body as text and discards the rest. */
export async function readBodyStart(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= MAX_WORDS_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_WORDS_BYTES).toString()
}

/** Counts the bytes of an unfinished event, which are those since the last blank line. */
class EventLength {
  #event = 0
  #line = 0
  #last: number | undefined

  push(chunk: Uint8Array): number {
    let from = 0
    let largest = 0
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, from)) {
      const line = this.#line + at - from
      const isBlank = line === 0 || (line === 1 && (at === 0 ? this.#last : chunk[at - 1]) === CR)
      this.#event = isBlank ? 0 : this.#event + at - from + 1
      largest = Math.max(largest, this.#event)
      this.#line = 0
      from = at + 1
    }
    this.#last = chunk.at(-1) ?? this.#last
    this.#line += chunk.length - from
    this.#event += chunk.length - from
    return Math.max(largest, this.#event)
  }
}

const LF = 0x0a
const CR = 0x0d
/** The same limit as on standard output. */
const MAX_MESSAGE_BYTES = 64 * 2 ** 20
const MAX_WORDS_BYTES = 16 * 1024
