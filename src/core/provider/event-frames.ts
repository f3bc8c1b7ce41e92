import { crc32 } from 'node:zlib'
import { CrabError } from '../base/errors.ts'

/**
 * An AWS event stream in whole frames; what is left of a cut one at the end is dropped.
 *
 * The SDK's decoder fails on a part of a frame, and a web stream that fails drops what it still holds: with it would go
 * the text that had arrived. Whether an answer is whole is told by its last event. Bytes that are no frame are `failed`.
 */
export function wholeFrames(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let rest: Buffer<ArrayBuffer> = Buffer.alloc(0)
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        rest = Buffer.concat([rest, chunk])
        const end = wholeBytes(rest)
        if (end > 0) controller.enqueue(rest.subarray(0, end))
        rest = rest.subarray(end)
      },
    }),
  )
}

/** How many bytes the whole frames at the beginning have. */
function wholeBytes(bytes: Buffer): number {
  let end = 0
  while (bytes.length - end >= LENGTH_BYTES) {
    const length = bytes.readUInt32BE(end)
    if (length < SHORTEST || length > LONGEST) throw noFrame()
    if (end + length > bytes.length) break
    const sumAt = end + length - SUM_BYTES
    if (crc32(bytes.subarray(end, sumAt)) !== bytes.readUInt32BE(sumAt)) throw noFrame()
    end += length
  }
  return end
}

function noFrame(): CrabError {
  return new CrabError('failed', 'Cannot read the answer: it is no event stream of AWS', {
    hint: 'check that base_url is a model server’s',
  })
}

const LENGTH_BYTES = 4
const SUM_BYTES = 4
/** Two lengths and two checksums. */
const SHORTEST = 16
/** Frames hold at most 16 MiB and their headers 128 KiB; more is no frame. */
const LONGEST = 24 * 1024 * 1024
