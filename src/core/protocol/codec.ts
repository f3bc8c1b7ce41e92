import { BinaryReader } from '@bufbuild/protobuf/wire'
import { CrabError } from '../base/errors.ts'
import { type ConversationList, type MessageFns, ServerMessage } from './crabtalk.generated.ts'

/**
 * Decodes the message in a payload; skips unknown fields. Throws `invalid` for bytes that are not exactly one
 * complete message, and for text that is not UTF-8: with replacement characters, different senders could
 * become equal.
 */
export function decodeMessage<T>(type: MessageFns<T>, payload: Uint8Array): T {
  const reader = payload.length < LARGE ? new BinaryReader(payload, decodeUtf8) : new LargeReader(payload)
  try {
    const message = type.decode(reader)
    if (reader.pos === reader.len) return message // a stray end-of-group tag ends the generated decoder early
  } catch (cause) {
    throw new CrabError('invalid', `Cannot decode a message: ${(cause as Error).message}`, { cause })
  }
  throw new CrabError('invalid', `Cannot decode a message: unexpected end at byte ${reader.pos}`)
}

/**
 * Encodes a reply, in pieces. A list of conversations is encoded once, and its bytes are kept as long
 * as the list, which must not change afterwards.
 */
export function encodeReply(reply: ServerMessage): Uint8Array[] {
  const { requestId, msg } = reply
  if (msg?.$case !== 'conversationList') return [ServerMessage.encode(reply).finish()]
  const bytes = encodedLists.get(msg.value) ?? ServerMessage.encode({ requestId: 0, msg }).finish()
  encodedLists.set(msg.value, bytes)
  return [bytes, ServerMessage.encode({ requestId, msg: undefined }).finish()] // the id is the last field
}

const encodedLists = new WeakMap<ConversationList, Uint8Array>()

/**
 * Reads the texts of a large message, such as a list of ten thousand conversations, in half the time.
 *
 * Short ASCII texts are slices of a decoded window. The window is small because a slice keeps it in memory.
 */
class LargeReader extends BinaryReader {
  readonly #payload: Buffer
  #window = ''
  #windowStart = 0

  constructor(payload: Uint8Array) {
    super(payload, decodeUtf8)
    this.#payload = Buffer.from(payload.buffer, payload.byteOffset, payload.length)
  }

  override string(): string {
    const length = this.uint32()
    const start = this.pos
    const end = start + length
    if (end > this.len) throw new RangeError('premature EOF')
    this.pos = end
    const payload = this.#payload
    if (length > MAX_SLICE) return decodeUtf8(payload.subarray(start, end))
    for (let at = start; at < end; at++) {
      if (payload[at]! > MAX_ASCII) return decodeUtf8(payload.subarray(start, end))
    }
    if (end > this.#windowStart + this.#window.length) {
      this.#windowStart = start
      this.#window = payload.toString('latin1', start, start + WINDOW)
    }
    return this.#window.slice(start - this.#windowStart, end - this.#windowStart)
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  return UTF8.decode(bytes)
}

/** Keeps a byte order mark, which is part of the text. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** The size in bytes from which the windows are worth their memory. */
const LARGE = 64 * 1024
const WINDOW = 16 * 1024
const MAX_SLICE = 1024
const MAX_ASCII = 0x7f
