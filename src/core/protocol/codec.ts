import { BinaryReader } from '@bufbuild/protobuf/wire'
import { CrabError } from '../base/errors.ts'
import type { MessageFns } from './crabtalk.generated.ts'

/** The message in a payload. Bytes that are none, or that hold more than one, are `invalid`; unknown fields are skipped. */
export function decodeMessage<T>(type: MessageFns<T>, payload: Uint8Array): T {
  const reader = new BinaryReader(payload)
  try {
    const message = type.decode(reader)
    if (reader.pos === reader.len) return message // a stray end-of-group tag ends the generated decoder early
  } catch (cause) {
    throw new CrabError('invalid', `Cannot decode a message: ${(cause as Error).message}`, { cause })
  }
  throw new CrabError('invalid', `Cannot decode a message: unexpected end at byte ${reader.pos}`)
}
