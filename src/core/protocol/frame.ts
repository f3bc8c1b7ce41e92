import { CrabError } from '../base/errors.ts'

/** The largest payload of a frame; both the writer and the reader reject a longer one. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024
const HEADER_BYTES = 4

/**
 * Encodes a payload as a frame: its length as a big-endian u32, then the payload. Throws `invalid` over the
 * limit.
 */
export function encodeFrame(payload: Uint8Array): Uint8Array {
  return encodePieces([payload])
}

/** Encodes a payload that is in pieces as a frame. Throws `invalid` over the limit. */
export function encodePieces(pieces: readonly Uint8Array[]): Uint8Array {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  checkLength(length, MAX_FRAME_BYTES)
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length)
  let end = frame.writeUInt32BE(length)
  for (const piece of pieces) {
    frame.set(piece, end)
    end += piece.length
  }
  return frame
}

/**
 * Splits a byte stream into payloads, however the bytes were chunked.
 *
 * A payload that arrived in one chunk is a view of that chunk. Ends when the stream ends between frames;
 * throws `unavailable` when it ends inside one. Throws `invalid` for a length over the limit as soon as the
 * length is known. Memory grows with the bytes that arrived, never with an announced length. The first
 * payload can have a lower limit.
 */
export async function* readFrames(
  bytes: AsyncIterable<Uint8Array>,
  firstLimit = MAX_FRAME_BYTES,
): AsyncGenerator<Uint8Array> {
  const partial = new PartialFrame(firstLimit)
  for await (const chunk of bytes) {
    let rest = chunk
    while (rest.length > 0) {
      const whole = partial.isEmpty ? wholePayload(rest, partial.limit) : undefined
      rest = whole ? rest.subarray(HEADER_BYTES + whole.length) : partial.take(rest)
      const payload = whole ?? partial.release()
      if (payload === undefined) continue
      partial.limit = MAX_FRAME_BYTES
      yield payload
    }
  }
  if (!partial.isEmpty) {
    throw new CrabError('unavailable', 'Cannot read a frame: the stream ended inside it')
  }
}

/** Returns the payload of the frame that `bytes` begin with, or undefined if it is incomplete. */
function wholePayload(bytes: Uint8Array, limit: number): Uint8Array | undefined {
  if (bytes.length < HEADER_BYTES) return undefined
  const end = HEADER_BYTES + readLength(bytes, limit)
  return bytes.length < end ? undefined : bytes.subarray(HEADER_BYTES, end)
}

/**
 * A frame that has partially arrived. Its buffer doubles, so that every byte is copied a bounded number of
 * times.
 */
class PartialFrame {
  /** The maximum length of the payload. */
  limit: number
  #bytes = new Uint8Array(HEADER_BYTES)
  #filled = 0
  #needed = HEADER_BYTES

  constructor(limit: number) {
    this.limit = limit
  }

  get isEmpty(): boolean {
    return this.#filled === 0
  }

  /** Copies the bytes of this frame and returns the rest of the chunk. */
  take(chunk: Uint8Array): Uint8Array {
    const taken = chunk.subarray(0, this.#needed - this.#filled)
    this.#reserve(this.#filled + taken.length)
    this.#bytes.set(taken, this.#filled)
    this.#filled += taken.length
    if (this.#filled === HEADER_BYTES) {
      this.#needed = HEADER_BYTES + readLength(this.#bytes, this.limit)
    }
    return chunk.subarray(taken.length)
  }

  /** Returns the payload if it is complete, transferring ownership, and resets for the next frame. */
  release(): Uint8Array | undefined {
    if (this.#filled < this.#needed) return undefined
    const payload = this.#bytes.subarray(HEADER_BYTES, this.#filled)
    this.#bytes = new Uint8Array(HEADER_BYTES)
    this.#filled = 0
    this.#needed = HEADER_BYTES
    return payload
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return
    const larger = new Uint8Array(Math.min(this.#needed, Math.max(size, 2 * this.#bytes.length)))
    larger.set(this.#bytes.subarray(0, this.#filled))
    this.#bytes = larger
  }
}

function readLength(header: Uint8Array, limit: number): number {
  const length = new DataView(header.buffer, header.byteOffset).getUint32(0)
  checkLength(length, limit)
  return length
}

function checkLength(length: number, limit: number): void {
  if (length <= limit) return
  throw new CrabError('invalid', `Cannot carry a frame of ${length} bytes: the limit is ${limit}`)
}
