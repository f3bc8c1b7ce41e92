import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServiceNote } from './notes.ts'

/** Notes on log files that are too large all the same, and on a disk without room for what services write. */
export async function diskNotes({ home, logs }: { home: string; logs: string }): Promise<ServiceNote[]> {
  return [...(await freeSpaceNotes(home)), ...(await logNotes(logs))]
}

/** The files of a folder with their sizes in bytes; none where it does not exist. */
export async function fileSizes(folder: string): Promise<{ name: string; bytes: number }[]> {
  const names = await readdir(folder).catch(() => []) // nothing was ever written
  return await Promise.all(names.map(async (name) => ({ name, bytes: await readSize(join(folder, name)) })))
}

/** More than all that a service keeps of its own log: nothing bounds such a file. */
export const LARGE_LOG_BYTES = 60_000_000

/** A note on a disk that is full, or nearly. */
export async function freeSpaceNotes(home: string): Promise<ServiceNote[]> {
  const disk = await statfs(home).catch(() => undefined) // there is no home yet
  if (!disk) return []
  const bytes = disk.bavail * disk.bsize
  if (bytes >= LITTLE_BYTES) return []
  const left = bytes === 0 ? 'is full' : `has ${Math.floor(bytes / 1e6)} MB left`
  const message = `the disk of ${home} ${left}: services may run without being able to say so`
  return [{ message, hint: 'free some space' }]
}

async function logNotes(logs: string): Promise<ServiceNote[]> {
  const large = (await fileSizes(logs)).filter(({ bytes }) => bytes > LARGE_LOG_BYTES)
  return large.map(({ name, bytes }) => ({
    message: `logs/${name} has ${Math.round(bytes / 1e6)} MB`,
    hint: 'crabup doctor says what to do',
  }))
}

async function readSize(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0, // it was set aside meanwhile
  )
}

/** Less than a service writes in an hour of trouble. */
const LITTLE_BYTES = 20_000_000
