import { rename, rm, stat } from 'node:fs/promises'
import { readStamp } from '../../core/base/file-stamp.ts'
import { newUlid } from '../../core/base/ids.ts'

/**
 * Returns a stamp that identifies the current content of a file, if it was written at least 10 s ago: a
 * program may write its address before it listens there. Returns undefined for a newer or a missing file.
 * Call it before reading the file.
 */
export async function readStaleStamp(file: string, now: number): Promise<string | undefined> {
  const written = await stat(file).catch(() => undefined) // it does not exist
  if (!written || now - written.mtimeMs < STARTING_MS) return undefined
  return await readStamp(file).catch(() => undefined) // it was removed meanwhile
}

/**
 * Removes a stale file, and returns whether it did. A file that has been rewritten since it was found to be
 * stale is put back.
 */
export async function removeStale(file: string, stamp: string): Promise<boolean> {
  const aside = `${file}.${newUlid()}.stale`
  try {
    if ((await readStamp(file)) !== stamp) return false
    await rename(file, aside)
  } catch {
    return false // it was removed meanwhile, or may not be removed
  }
  if ((await readStamp(aside)) === stamp) {
    await rm(aside, { force: true })
    if (file.endsWith('.port')) await rm(file.replace(/port$/, 'key'), { force: true }) // the key for that port
    return true
  }
  const isTaken = await stat(file).then(
    () => true,
    () => false,
  )
  await (isTaken ? rm(aside, { force: true }) : rename(aside, file))
  return false
}

const STARTING_MS = 10_000
