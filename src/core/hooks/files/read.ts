import { imageType } from '../../base/image-type.ts'
import type { ToolOutput } from '../../runtime/hook.ts'
import type { LineRange } from './arguments.ts'
import { excerpt } from './excerpt.ts'
import type { FileCall } from './file-call.ts'
import { suggestName } from './listing.ts'
import { openFileTarget, readBytes } from './open-target.ts'
import { type FileTarget, newFileError } from './target.ts'
import { countLines, decodeText } from './text.ts'
import { hashVersion } from './version.ts'

/** The largest image that is shown: five million characters as base64, which every provider accepts. */
const MAX_IMAGE_BYTES = 3_750_000

/** Returns lines of a text, or an image; from then on the conversation knows this version of the file. */
export async function readFileTool(
  { target, files }: FileCall,
  range: LineRange,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const bytes = await readTargetBytes(target, signal)
  const content = decodeText(bytes)
  const output = content
    ? { output: selectLines(content.text, range, target), isError: false }
    : image(bytes, target)
  files.set(target.path, await hashVersion(bytes))
  return output
}

async function readTargetBytes(target: FileTarget, signal: AbortSignal): Promise<Buffer> {
  await using file = await openFileTarget(target)
  if (file) return await readBytes(file, target, signal)
  const hint = await suggestName(target)
  throw newFileError(target, 'missing', 'the file does not exist', hint === undefined ? {} : { hint })
}

function selectLines(text: string, range: LineRange, target: FileTarget): string {
  const lines = excerpt(text, range)
  if (lines !== undefined) return lines
  throw newFileError(
    target,
    'invalid',
    `it has ${countLines(text)} lines; offset ${range.offset} is past the end`,
  )
}

function image(bytes: Buffer, target: FileTarget): ToolOutput {
  const type = imageType(bytes)
  if (!type) throw newFileError(target, 'invalid', `it is a binary file of ${bytes.length} bytes`)
  if (bytes.length > MAX_IMAGE_BYTES) {
    const why = `the image has ${bytes.length} bytes; the limit is ${MAX_IMAGE_BYTES}`
    throw newFileError(target, 'invalid', why, { hint: 'make a smaller copy of it with bash' })
  }
  const attachment = { media_type: type, data: bytes.toString('base64'), name: target.shown }
  return { output: `[${type}, ${bytes.length} bytes]`, isError: false, attachments: [attachment] }
}
