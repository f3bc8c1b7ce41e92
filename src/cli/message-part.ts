import { basename } from 'node:path'
import { imageType } from '../core/base/image-type.ts'
import type { Attachment } from '../core/protocol/crabtalk.generated.ts'
import type { Host } from './host.ts'
import { readNamedFile, toText } from './named-file.ts'

/** A file or standard input as part of a message: a text or an image. */
export interface MessagePart {
  name: string
  text?: string
  image?: Attachment
  /** The lines of the file, as in `10-20`. */
  lines?: string
}

/** The name of standard input in messages. */
export const STDIN = 'standard input'

/**
 * Reads a file that the user named. Throws `no-input` when it cannot be read, `invalid` when it is neither
 * text nor an image.
 */
export async function readPart(
  path: string,
  host: Pick<Host, 'cwd'>,
  signal: AbortSignal,
): Promise<MessagePart> {
  return toMessagePart(await readNamedFile({ path }, host, signal), path)
}

/**
 * Converts bytes to a part: text is kept exactly, an image becomes an attachment. Throws `invalid` for
 * anything else.
 */
export function toMessagePart(bytes: Uint8Array, name: string): MessagePart {
  const mediaType = imageType(bytes)
  if (mediaType)
    return { name, image: { mediaType, data: bytes, name: name === STDIN ? '' : basename(name) } }
  return { name, text: toText(bytes, name) }
}

/** Formats a part's text as the model sees it, without one final line feed; empty for an empty text. */
export function toBlock({ name, text = '', lines }: MessagePart): string {
  const body = text.endsWith('\n') ? text.slice(0, -1) : text
  if (body === '') return ''
  if (name === STDIN) return `<stdin>\n${body}\n</stdin>`
  const which = lines === undefined ? '' : ` lines="${lines}"`
  return `<file path="${name}"${which}>\n${body}\n</file>`
}

/** Joins blocks with a blank line between them; empty blocks are left out. */
export function joinBlocks(blocks: readonly string[]): string {
  return blocks.filter((block) => block !== '').join('\n\n')
}
