import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { toStorageError } from '../base/files.ts'

/** Whether SQLite refused because another connection holds the lock: trying again can help. */
export function isBusy(reason: unknown): boolean {
  return BUSY.has(primaryCode(reason))
}

/** Whether the file is no database of ours any more: damaged, or emptied under us. Opening it anew helps, or a new one. */
export function isDamaged(reason: unknown): boolean {
  return DAMAGED.has(primaryCode(reason))
}

/** A failure of SQLite on a file as a `storage` error that names what the operating system holds against it. */
export function toDatabaseError(what: string, path: string, reason: unknown): CrabError {
  if (reason instanceof CrabError) return reason
  return toStorageError(what, primaryCode(reason) === FULL ? fullDisk(reason) : (obstacle(path) ?? reason))
}

const FULL = 13
const BUSY: ReadonlySet<number> = new Set([5, 6])
const DAMAGED: ReadonlySet<number> = new Set([1, 11, 26])

/** SQLite's result code without its extension; 0 for what is no error of SQLite. */
function primaryCode(reason: unknown): number {
  const code = (reason as { errcode?: unknown } | undefined)?.errcode
  return typeof code === 'number' ? code & 0xff : 0
}

function fullDisk(reason: unknown): Error {
  return Object.assign(new Error('the disk is full', { cause: reason }), { code: 'ENOSPC' })
}

/** Why the folder of a file cannot be written, if it cannot; SQLite says only "unable to open". */
function obstacle(path: string): unknown {
  try {
    accessSync(dirname(path), constants.W_OK) // opens nothing: closing a descriptor would drop POSIX locks
    return undefined
  } catch (reason) {
    return reason
  }
}
