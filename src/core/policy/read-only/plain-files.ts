import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Doubt, showText } from './doubt.ts'

/** Reads a regular file of at most a number of bytes. Refuses anything else: links, pipes, which nothing may end, devices. */
export async function readPlain(path: string, maxBytes = MAX_BYTES): Promise<Buffer> {
  await using file = await open(path, OPEN_FLAGS)
  const stats = await file.stat()
  if (!stats.isFile()) throw new Doubt(`${showText(path)} is not a regular file`)
  if (stats.size > maxBytes) throw new Doubt(`${showText(path)} is larger than ${maxBytes} bytes`)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0)
  return buffer.subarray(0, bytesRead)
}

/** Reads a plain text. Refuses one that programs may end elsewhere or spell in another way. */
export async function readPlainText(path: string): Promise<string> {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readPlain(path))
  if (text.includes('\0')) throw new Doubt(`${showText(path)} is not a text`)
  return text
}

/**
 * Finds something below a folder, at any depth, that is neither a regular file nor a folder: a link, a pipe, a device. A
 * socket does not count, because it cannot be opened. Returns its path in the folder; '' for more than `most` files, and
 * undefined when there is none. `unread` are names in the folder itself that are left out.
 */
export async function findOddFile(
  folder: string,
  { most, unread }: { most: number; unread: ReadonlySet<string> },
): Promise<string | undefined> {
  let left = most
  const search = async (at: string, without?: ReadonlySet<string>): Promise<string | undefined> => {
    const all = await readdir(join(folder, at), { withFileTypes: true })
    left -= all.length
    if (left < 0) return ''
    const entries = all.filter(({ name }) => !without?.has(name))
    const odd = entries.find((one) => !one.isFile() && !one.isDirectory() && !one.isSocket())
    if (odd) return join(at, odd.name)
    const below = entries.filter((one) => one.isDirectory()).map(({ name }) => search(join(at, name)))
    return (await Promise.all(below)).find((one) => one !== undefined)
  }
  return await search('', unread)
}

const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const MAX_BYTES = 1024 * 1024
