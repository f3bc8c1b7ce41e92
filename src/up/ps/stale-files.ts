import { rename, rm, stat } from 'node:fs/promises'
import { readStamp } from '../../core/base/file-stamp.ts'
import { newUlid } from '../../core/base/ids.ts'

/**
 * What tells the content of a file from a later one, where it was written a while ago: a program may write where it is
 * before it listens there. Undefined for a younger one, and for none. Take it before the file is read.
 */
export async function readStaleStamp(file: string, now: number): Promise<string | undefined> {
  const written = await stat(file).catch(() => undefined) // none is there
  if (!written || now - written.mtimeMs < STARTING_MS) return undefined
  return await readStamp(file).catch(() => undefined) // it has gone meanwhile
}

/**
 * Removes a file that a program left behind, unless it has been written again since it was found to be stale: then it is
 * put back, and false is given. So is it where the file cannot be removed.
 */
export async function removeStale(file: string, stamp: string): Promise<boolean> {
  const aside = `${file}.${newUlid()}.stale`
  try {
    if ((await readStamp(file)) !== stamp) return false
    await rename(file, aside)
  } catch {
    return false // it has gone meanwhile, or is not ours to remove
  }
  if ((await readStamp(aside)) === stamp) {
    await rm(aside, { force: true })
    if (file.endsWith('.port')) await rm(file.replace(/port$/, 'key'), { force: true }) // what it was reached with
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
