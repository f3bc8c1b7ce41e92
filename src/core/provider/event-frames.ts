import { crc32 } from 'node:zlib'
import { CrabError } from '../base/errors.ts'

/** What a server says in its stream when it gives up. */
export interface StreamFault {
  /** An exception's name, `accessDeniedException`, or an error's code, `InternalFailure`. */
  name: string
  isException: boolean
  /** An exception's body, which is JSON; an error's message. */
  body: string
}

/**
 * An AWS event stream in whole frames; what is left of a cut one at the end is dropped. An exception or an error ends
 * the stream, and is told instead of given: of these the SDK knows five by name, and passes by the others.
 *
 * The SDK's decoder fails on a part of a frame, and a web stream that fails drops what it still holds: with it would go
 * the text that had arrived. Whether an answer is whole is told by its last event. Bytes that are no frame are `failed`.
 */
export function wholeFrames(
  body: ReadableStream<Uint8Array>,
  onFault: (fault: StreamFault) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let rest: Buffer<ArrayBuffer> = Buffer.alloc(0)
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        rest = Buffer.concat([rest, chunk])
        const { end, fault } = readFrames(rest)
        if (end > 0) controller.enqueue(rest.subarray(0, end))
        rest = rest.subarray(end)
        if (fault === undefined) return
        onFault(fault)
        controller.terminate()
      },
    }),
  )
}

/** How many bytes the whole frames at the beginning have, up to a fault. */
function readFrames(bytes: Buffer): { end: number; fault?: StreamFault } {
  let end = 0
  while (bytes.length - end >= LENGTH_BYTES) {
    const length = bytes.readUInt32BE(end)
    if (length < SHORTEST || length > LONGEST) throw noFrame()
    if (end + length > bytes.length) break
    const frame = bytes.subarray(end, end + length)
    if (crc32(frame.subarray(0, -SUM_BYTES)) !== frame.readUInt32BE(length - SUM_BYTES)) throw noFrame()
    const fault = faultIn(frame)
    if (fault) return { end, fault }
    end += length
  }
  return { end }
}

function faultIn(frame: Buffer): StreamFault | undefined {
  const headersEnd = HEADERS_AT + frame.readUInt32BE(LENGTH_BYTES)
  if (headersEnd > frame.length - SUM_BYTES) throw noFrame()
  const headers = textHeaders(frame.subarray(HEADERS_AT, headersEnd))
  const type = headers.get(':message-type')
  if (type === 'exception') {
    const body = frame.toString('utf8', headersEnd, frame.length - SUM_BYTES)
    return { name: headers.get(':exception-type') ?? type, isException: true, body }
  }
  if (type !== 'error') return undefined
  const name = headers.get(':error-code') ?? type
  return { name, isException: false, body: headers.get(':error-message') ?? name }
}

/** Those that are text, up to the first that is not: what is looked for here is. */
function textHeaders(bytes: Buffer): Map<string, string> {
  const found = new Map<string, string>()
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + bytes[at]!
    const [valueAt, length] = [nameEnd + 3, nameEnd + 3 <= bytes.length ? bytes.readUInt16BE(nameEnd + 1) : 0]
    if (bytes[nameEnd] !== TEXT || valueAt + length > bytes.length) break
    found.set(bytes.toString('utf8', at + 1, nameEnd), bytes.toString('utf8', valueAt, valueAt + length))
    at = valueAt + length
  }
  return found
}

function noFrame(): CrabError {
  return new CrabError('failed', 'Cannot read the answer: it is no event stream of AWS', {
    hint: 'check that base_url is a model server’s',
  })
}

const LENGTH_BYTES = 4
const SUM_BYTES = 4
/** Behind the frame's length, the headers' length and the checksum of both. */
const HEADERS_AT = 12
/** A header's type. */
const TEXT = 7
/** Two lengths and two checksums. */
const SHORTEST = 16
/** Frames hold at most 16 MiB and their headers 128 KiB; more is no frame. */
const LONGEST = 24 * 1024 * 1024
