import type { Attachment as StoredAttachment } from '../../core/base/message.ts'
import type { Attachment } from '../../core/protocol/crabtalk.generated.ts'

/**
 * The maximum size in bytes of a result that a person requested. Limits in declarations are for models; this
 * one keeps the result within a frame.
 */
export const MAX_RESULT_BYTES = 8 * 1024 * 1024

/** Converts an attachment to its wire form. */
export function toAttachment({ media_type: mediaType, data, name = '' }: StoredAttachment): Attachment {
  return { mediaType, data: Buffer.from(data, 'base64'), name }
}
