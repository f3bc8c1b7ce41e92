import { statfs } from 'node:fs/promises'
import { fileSizes } from '../logs/log-files.ts'
import type { ServiceNote } from './notes.ts'

/** Notes log files that have become too large, and a disk without room for logs. */
export async function diskNotes({ home, logs }: { home: string; logs: string }): Promise<ServiceNote[]> {
  return [...(await freeSpaceNotes(home)), ...(await logNotes(logs))]
}

/**
 * The size above which a log is reported: more than a service's own rotated log can reach, so the file is
 * unbounded.
 */
export const LARGE_LOG_BYTES = 60_000_000

/** Notes a disk that is full or nearly full. */
export async function freeSpaceNotes(home: string): Promise<ServiceNote[]> {
  const disk = await statfs(home).catch(() => undefined) // the home does not exist yet
  if (!disk) return []
  const bytes = disk.bavail * disk.bsize
  if (bytes >= LITTLE_BYTES) return []
  const left = bytes === 0 ? 'is full' : `has ${Math.floor(bytes / 1e6)} MB left`
  const message = `the disk of ${home} ${left}: services may run but be unable to record it`
  return [{ message, hint: 'free some space' }]
}

async function logNotes(logs: string): Promise<ServiceNote[]> {
  const large = (await fileSizes(logs)).filter(({ bytes }) => bytes > LARGE_LOG_BYTES)
  return large.map(({ name, bytes }) => ({
    message: `logs/${name} has ${Math.round(bytes / 1e6)} MB`,
    hint: 'crabup doctor explains what to do',
  }))
}

/** Less than a failing service logs in an hour. */
const LITTLE_BYTES = 20_000_000
