import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { CrabError } from '../base/errors.ts'
import { newUlid } from '../base/ids.ts'
import { isBusy } from './sqlite-errors.ts'

/**
 * A sign of life: an empty file named by a ULID that stays locked until it is disposed or its process dies.
 *
 * POSIX drops the locks of a process when it closes any descriptor of the file, so these files are opened
 * through SQLite only, which knows of that and keeps such descriptors open.
 */
export class OwnerLock implements Disposable {
  readonly id: string
  readonly #folder: string
  readonly #lock: DatabaseSync

  /** Makes a file in this folder, which must exist, and locks it. */
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
    throw new CrabError('unavailable', `Cannot lock a file in ${folder}: it is taken at once each time`)
  }

  /** False once somebody removed the file: from then on others hold this owner for dead. */
  get isValid(): boolean {
    return existsSync(join(this.#folder, this.id))
  }

  [Symbol.dispose](): void {
    this.#lock.close()
    rmSync(join(this.#folder, this.id), { force: true })
  }
}

/**
 * Locks a file for as long as the connection stays open, making it when it is missing; undefined when another
 * holds it, or when somebody who took it for a dead owner's removed it before it was locked.
 */
export function tryLock(path: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE') // in memory: a journal file would outlive a kill
    if (existsSync(path)) return lock
  } catch (reason) {
    lock.close()
    if (!isBusy(reason)) throw reason
    return undefined
  }
  lock.close()
  return undefined
}

/** Whether an owner lives; the file of a dead one is removed. An id is never used again, so dead is for ever. */
export function isOwnerAlive(folder: string, id: string): boolean {
  const path = join(folder, id)
  if (!existsSync(path)) return false
  const url = pathToFileURL(path)
  url.search = 'mode=ro' // never makes the file
  try {
    using probe = new DatabaseSync(url, { timeout: 0 })
    probe.exec('BEGIN; SELECT 1 FROM sqlite_schema') // a shared lock: probes do not hinder one another
    rmSync(path, { force: true }) // while the lock is held: a claimer that comes later sees the file gone
    return false
  } catch (reason) {
    if (isBusy(reason)) return true
    if (!existsSync(path)) return false
    throw reason
  }
}

/** The ids of all owners that left a file in this folder, dead or alive. */
export function ownersIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => OWNER.test(name))
}

const OWNER = /^[0-9A-HJKMNP-TV-Z]{26}$/
const CLAIM_ATTEMPTS = 20
