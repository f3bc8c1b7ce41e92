import { crc32 } from 'node:zlib'
import { CrabError } from '../base/errors.ts'

/** An error that a server sends inside its stream. */
export interface StreamFault {
  /**
   * The name of an exception, such as `accessDeniedException`, or the code of an error, such as
   * `InternalFailure`.
   */
  name: string
  isException: boolean
  /** The body of an exception, which is JSON, or the message of an error. */
  body: string
}

/**
 * Splits an AWS event stream into complete frames; drops an incomplete one at the end. An exception or error
 * ends the stream and is passed to `onFault`: the SDK knows only five of them by name and ignores all others.
 *
 * The SDK's decoder fails on a partial frame, and a web stream that fails drops the data it still holds,
 * including text that had already arrived. Only its last event tells whether an answer is complete. Throws
 * `failed` for bytes that are not a frame.
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

/** Returns the length of the complete frames at the beginning, up to a fault. */
function readFrames(bytes: Buffer): { end: number; fault?: StreamFault } {
  let end = 0
  while (bytes.length - end >= LENGTH_BYTES) {
    const length = bytes.readUInt32BE(end)
    if (length < SHORTEST || length > LONGEST) throw frameError()
    if (end + length > bytes.length) break
    const frame = bytes.subarray(end, end + length)
    if (crc32(frame.subarray(0, -SUM_BYTES)) !== frame.readUInt32BE(length - SUM_BYTES)) throw frameError()
    const fault = faultIn(frame)
    if (fault) return { end, fault }
    end += length
  }
  return { end }
}

function faultIn(frame: Buffer): StreamFault | undefined {
  const headersEnd = HEADERS_AT + frame.readUInt32BE(LENGTH_BYTES)
  if (headersEnd > frame.length - SUM_BYTES) throw frameError()
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

/**
 * Returns the string headers up to the first header of another type; the headers needed here come before it.
 */
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

function frameError(): CrabError {
  return new CrabError('failed', 'Cannot read the answer: it is not an AWS event stream', {
    hint: 'check that base_url is a model server’s',
  })
}

const LENGTH_BYTES = 4
const SUM_BYTES = 4
/** The offset of the headers: after the frame's length, the headers' length and the checksum of both. */
const HEADERS_AT = 12
/** The header type for strings. */
const TEXT = 7
/** The length of an empty frame: two lengths and two checksums. */
const SHORTEST = 16
/** The maximum length of a frame. Valid ones hold at most 16 MiB and 128 KiB of headers. */
const LONGEST = 24 * 1024 * 1024
