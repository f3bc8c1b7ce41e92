import { BinaryReader } from '@bufbuild/protobuf/wire'
import { CrabError } from '../base/errors.ts'
import type { MessageFns } from './crabtalk.generated.ts'

/**
 * Decodes the message in a payload; skips unknown fields. Throws `invalid` for bytes that are not exactly one
 * complete message, and for text that is not UTF-8: with replacement characters, different senders could
 * become equal.
 */
export function decodeMessage<T>(type: MessageFns<T>, payload: Uint8Array): T {
  const reader = new BinaryReader(payload, (bytes) => UTF8.decode(bytes))
  try {
    const message = type.decode(reader)
    if (reader.pos === reader.len) return message // a stray end-of-group tag ends the generated decoder early
  } catch (cause) {
    throw new CrabError('invalid', `Cannot decode a message: ${(cause as Error).message}`, { cause })
  }
  throw new CrabError('invalid', `Cannot decode a message: unexpected end at byte ${reader.pos}`)
}

/** Keeps a byte order mark, which is part of the text. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
