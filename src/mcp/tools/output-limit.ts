import { Buffer } from 'node:buffer'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { replaceFile } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'

/** The source of a result, and the folder for what is too long of it. */
export interface Spill {
  server: string
  tool: string
  /** Absolute; created when needed. The model may read it. */
  folder: string
}

/** Truncates a text to `limitBytes`, writes the whole to a file and says where. */
export async function limitOutput(text: string, limitBytes: number, spill: Spill): Promise<string> {
  const bytes = Buffer.from(text)
  if (bytes.length <= limitBytes) return text
  const head = bytes
    .subarray(0, limitBytes)
    .toString()
    .replace(/\uFFFD{1,3}$/, '')
  const where = await spillContent(bytes, 'txt', spill)
  return `${head}\n[Cut: ${bytes.length} bytes in all, the first ${Buffer.byteLength(head)} are above; ${where}]`
}

/** Writes content to a file of mode 0600; returns a clause that says where, or why not. */
export async function spillContent(content: Uint8Array, extension: string, spill: Spill): Promise<string> {
  const name = [spill.server, spill.tool.slice(0, 40), newUlid()].join('-').replaceAll(/[^\w-]/g, '_')
  const path = join(spill.folder, `${name}.${extension}`)
  try {
    await replaceFile(path, content)
    return `the full content is in ${path}`
  } catch (reason) {
    return `the rest is lost: ${reason instanceof CrabError ? reason.message : String(reason)}`
  }
}
