import { basename } from 'node:path'
import type { Host } from '../../cli/host.ts'
import {
  joinBlocks,
  type MessagePart,
  readPart,
  STDIN,
  toBlock,
  toMessagePart,
} from '../../cli/message-part.ts'
import { MAX_INPUT_BYTES, readNamedFile, tooLarge } from '../../cli/named-file.ts'
import { CrabError } from '../../core/base/errors.ts'
import { imageType } from '../../core/base/image-type.ts'
import type { Attachment } from '../../core/protocol/crabtalk.generated.ts'
import type { SendSettings } from './settings.ts'
import { readStdin } from './stdin.ts'

/** The input of one turn. */
export interface Input {
  content: string
  attachments: Attachment[]
}

/** Combines prompt, files and standard input (docs/send.md). Throws `usage` when there is nothing to send. */
export async function readInput(settings: SendSettings, host: Host, signal: AbortSignal): Promise<Input> {
  const attachments = await Promise.all(settings.images.map((path) => readImage(path, host, signal)))
  const files = await Promise.all(settings.files.map((path) => readPart(path, host, signal)))
  const stdin = settings.readStdin ? await readStdin(settings, host, signal) : undefined
  const parts = [...files, ...(stdin === undefined ? [] : [toMessagePart(stdin, STDIN)])]
  const texts = parts.flatMap((part) => (part.text === undefined ? [] : [part]))
  attachments.push(...parts.flatMap((part) => part.image ?? []))
  const content = joinPrompt(settings.args, texts)
  if (content.trim() === '' && attachments.length === 0) throw nothingToSend()
  const input = { content, attachments }
  checkSize(input, settings)
  return input
}

/** Throws `invalid` when the input, with everything else in its message, is too large for one message. */
export function checkSize({ content, attachments }: Input, { system = '', schema }: SendSettings): void {
  const texts = [content, system, schema].map((text) => Buffer.byteLength(text))
  const size = [...texts, ...attachments.map(({ data }) => data.length)].reduce((sum, bytes) => sum + bytes)
  if (size > MAX_INPUT_BYTES) throw tooLarge('all of this', size)
}

/** Joins the prompt and a tagged block for each part; standard input alone is itself the prompt, verbatim. */
function joinPrompt(args: readonly string[], parts: readonly MessagePart[]): string {
  const words = args.filter((word) => word !== '-')
  const only = parts[0]
  if (words.length === 0 && parts.length === 1 && only?.name === STDIN) return only.text ?? ''
  const stdin = parts.filter((part) => part.name === STDIN).map(toBlock)
  const files = parts.filter((part) => part.name !== STDIN).map(toBlock)
  const mark = args.indexOf('-')
  if (mark < 0) return joinBlocks([args.join(' '), ...files, ...stdin])
  const before = args.slice(0, mark).join(' ')
  const after = args
    .slice(mark + 1)
    .filter((word) => word !== '-')
    .join(' ')
  return joinBlocks([before, ...stdin, after, ...files])
}

function nothingToSend(): CrabError {
  return new CrabError('usage', 'Cannot send: there is no prompt', {
    hint: 'crabtalk send "your question", or pipe text into it',
  })
}

async function readImage(path: string, host: Host, signal: AbortSignal): Promise<Attachment> {
  const bytes = await readNamedFile({ path }, host, signal)
  const mediaType = imageType(bytes)
  if (mediaType) return { mediaType, data: bytes, name: basename(path) }
  throw new CrabError('invalid', `Cannot attach ${path}: it is not a PNG, JPEG, GIF or WebP image`, {
    hint: 'send text files with -f',
  })
}
