import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Doubt, showText } from './doubt.ts'

/**
 * Reads a regular file of at most `maxBytes`. Refuses anything else: links, devices, and pipes, which may
 * never end.
 */
export async function readPlain(path: string, maxBytes = MAX_BYTES): Promise<Buffer> {
  await using file = await open(path, OPEN_FLAGS)
  const stats = await file.stat()
  if (!stats.isFile()) throw new Doubt(`${showText(path)} is not a regular file`)
  if (stats.size > maxBytes) throw new Doubt(`${showText(path)} is larger than ${maxBytes} bytes`)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0)
  return buffer.subarray(0, bytesRead)
}

/** Reads a plain text file. Refuses NULs and invalid UTF-8, which other programs may read differently. */
export async function readPlainText(path: string): Promise<string> {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readPlain(path))
  if (text.includes('\0')) throw new Doubt(`${showText(path)} is not text`)
  return text
}

/**
 * Finds an entry below a folder, at any depth, that is neither a regular file nor a folder: a link, a pipe or
 * a device. Sockets do not count, because they cannot be opened. Returns its path in the folder; '' when
 * there are more than `most` entries; undefined when there is none. `unread` lists names in the folder itself
 * to skip.
 */
export async function findOddFile(
  folder: string,
  { most, unread }: { most: number; unread: ReadonlySet<string> },
): Promise<string | undefined> {
  let remaining = most
  const search = async (at: string, without?: ReadonlySet<string>): Promise<string | undefined> => {
    const all = await readdir(join(folder, at), { withFileTypes: true })
    remaining -= all.length
    if (remaining < 0) return ''
    const entries = all.filter(({ name }) => !without?.has(name))
    const oddEntry = entries.find((one) => !one.isFile() && !one.isDirectory() && !one.isSocket())
    if (oddEntry) return join(at, oddEntry.name)
    const below = entries.filter((one) => one.isDirectory()).map(({ name }) => search(join(at, name)))
    return (await Promise.all(below)).find((one) => one !== undefined)
  }
  return await search('', unread)
}

const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const MAX_BYTES = 1024 * 1024
