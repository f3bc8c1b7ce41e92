import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { CrabError } from '../base/errors.ts'
import { newUlid } from '../base/ids.ts'
import { isBusy } from './sqlite-errors.ts'

/**
 * A liveness file: an empty file, named by a ULID, that stays locked until it is disposed or its process
 * dies.
 *
 * POSIX drops the locks of a process when it closes any descriptor of the file. These files are therefore
 * opened through SQLite only, which handles this by keeping such descriptors open.
 */
export class OwnerLock implements Disposable {
  readonly id: string
  readonly #folder: string
  readonly #lock: DatabaseSync

  /** Creates and locks a file in this folder, which must exist. */
  constructor(folder: string) {
    this.#folder = folder
    for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt += 1) {
      const id = newUlid()
      const lock = tryLock(join(folder, id))
      if (!lock) continue
      this.id = id
      this.#lock = lock
      return
    }
    throw new CrabError(
      'unavailable',
      `Cannot lock a file in ${folder}: another process takes each one first`,
    )
  }

  /** False once the file was removed, because other processes then consider this owner dead. */
  get isValid(): boolean {
    return existsSync(join(this.#folder, this.id))
  }

  [Symbol.dispose](): void {
    this.#lock.close()
    rmSync(join(this.#folder, this.id), { force: true })
  }
}

/**
 * Locks a file for as long as the connection stays open, creating it if it is missing. Returns undefined when
 * another process holds it, or when another process took it for a dead owner's file and removed it before it
 * was locked.
 */
export function tryLock(path: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    // The journal is in memory, because a journal file would survive a kill.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    if (existsSync(path)) return lock
  } catch (reason) {
    lock.close()
    if (!isBusy(reason)) throw reason
    return undefined
  }
  lock.close()
  return undefined
}

/**
 * Whether an owner is alive. Removes the file of a dead one. An id is never reused, so a dead owner stays
 * dead.
 */
export function isOwnerAlive(folder: string, id: string): boolean {
  const path = join(folder, id)
  if (!existsSync(path)) return false
  const url = pathToFileURL(path)
  url.search = 'mode=ro' // does not create the file
  try {
    using probe = new DatabaseSync(url, { timeout: 0 })
    probe.exec('BEGIN; SELECT 1 FROM sqlite_schema') // a shared lock, so that probes do not block one another
    rmSync(path, { force: true }) // removed under the lock, so that a later claimer sees that the file is gone
    return false
  } catch (reason) {
    if (isBusy(reason)) return true
    if (!existsSync(path)) return false
    throw reason
  }
}

/** Returns the ids of all owners with a file in this folder, dead or alive. */
export function ownersIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => OWNER.test(name))
}

const OWNER = /^[0-9A-HJKMNP-TV-Z]{26}$/
const CLAIM_ATTEMPTS = 20
