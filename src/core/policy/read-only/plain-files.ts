import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Reads a regular file of at most so many bytes. Throws for anything else: links, pipes, which nothing may end, devices. */
export async function readPlain(path: string, maxBytes = MAX_BYTES): Promise<Buffer> {
  await using file = await open(path, OPEN_FLAGS)
  const stats = await file.stat()
  if (!stats.isFile() || stats.size > maxBytes) throw new TypeError(`${path} is not a plain file`)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0)
  return buffer.subarray(0, bytesRead)
}

/** Reads a plain text. Throws for one that programs may end elsewhere or spell in another way. */
export async function readPlainText(path: string): Promise<string> {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readPlain(path))
  if (text.includes('\0')) throw new TypeError(`${path} is not a text`)
  return text
}

/**
 * Whether a folder holds regular files and folders only, at any depth: no link, no pipe, no device. A socket is none of
 * these, and cannot be opened. False for more than `most` files. `unread` are names in the folder itself that do not count.
 */
export async function holdsPlainFiles(
  folder: string,
  { most, unread }: { most: number; unread: ReadonlySet<string> },
): Promise<boolean> {
  let left = most
  const isPlain = async (at: string, besides?: ReadonlySet<string>): Promise<boolean> => {
    const all = await readdir(at, { withFileTypes: true })
    const entries = all.filter(({ name }) => !besides?.has(name))
    left -= entries.length
    if (left < 0 || !entries.every((one) => one.isFile() || one.isDirectory() || one.isSocket())) return false
    const below = entries.filter((one) => one.isDirectory()).map(({ name }) => isPlain(join(at, name)))
    return (await Promise.all(below)).every(Boolean)
  }
  return await isPlain(folder, unread)
}

const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const MAX_BYTES = 1024 * 1024
