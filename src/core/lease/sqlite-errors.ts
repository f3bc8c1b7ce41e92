import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { toStorageError } from '../base/files.ts'

/** Whether SQLite refused because another connection holds the lock, so that a retry can help. */
export function isBusy(reason: unknown): boolean {
  return BUSY.has(primaryCode(reason))
}

/**
 * Whether the file is no longer a valid database: damaged, or truncated by another process. Reopening it or
 * creating a new one helps.
 */
export function isDamaged(reason: unknown): boolean {
  return DAMAGED.has(primaryCode(reason))
}

/** Converts a failure of SQLite on a file to a `storage` error that names the cause in the operating system. */
export function toDatabaseError(what: string, path: string, reason: unknown): CrabError {
  if (reason instanceof CrabError) return reason
  return toStorageError(
    what,
    primaryCode(reason) === FULL ? fullDisk(reason) : (findObstacle(path) ?? reason),
  )
}

const FULL = 13
const BUSY: ReadonlySet<number> = new Set([5, 6])
const DAMAGED: ReadonlySet<number> = new Set([1, 11, 26])

/** Returns SQLite's primary result code; 0 for other errors. */
function primaryCode(reason: unknown): number {
  const code = (reason as { errcode?: unknown } | undefined)?.errcode
  return typeof code === 'number' ? code & 0xff : 0
}

function fullDisk(reason: unknown): Error {
  return Object.assign(new Error('the disk is full', { cause: reason }), { code: 'ENOSPC' })
}

/** Returns the reason why the folder of a file is not writable, if any; SQLite says only "unable to open". */
function findObstacle(path: string): unknown {
  try {
    accessSync(dirname(path), constants.W_OK) // opens nothing, because closing a descriptor would drop POSIX locks
    return undefined
  } catch (reason) {
    return reason
  }
}
