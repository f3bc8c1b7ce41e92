import type { Attachment as StoredAttachment } from '../../core/base/message.ts'
import type { Attachment } from '../../core/protocol/crabtalk.generated.ts'

/** What an answer to a request of a person may hold: the limits of declarations are for models, this one is for the frame. */
export const MAX_RESULT_BYTES = 8 * 1024 * 1024

/** A file of an answer as the wire has it. */
export function toAttachment({ media_type: mediaType, data, name = '' }: StoredAttachment): Attachment {
  return { mediaType, data: Buffer.from(data, 'base64'), name }
}
