import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { tryLock } from './owner-lock.ts'
import { isDamaged } from './sqlite-errors.ts'

/** A position in the queue for a resource. Ticket numbers count up per resource; the lowest one holds it. */
export interface Ticket {
  resource: string
  ticket: number
}

/** The changes of one transaction. */
export interface Exchange {
  leave: readonly Ticket[]
  enter: readonly string[]
}

/** The owner of a queue position. */
export interface LeaseOwner {
  owner: string
  /** The process id; undefined when the owner did not record it. */
  pid: number | undefined
  /** The time at which the ticket was drawn, ISO 8601. */
  startedAt: string
}

/** The first in the queue for a resource. */
export interface Head extends LeaseOwner {
  ticket: number
}

/**
 * The queues of all processes, as rows of a small SQLite file. Every method is one transaction or one read.
 *
 * Rows of dead owners are meaningless, so nothing must survive a power failure and commits are not synced. A
 * file that a power failure has damaged is discarded when it is opened. Errors are those of SQLite.
 */
export class LeaseTable implements Disposable {
  readonly #path: string
  readonly #db: DatabaseSync
  readonly #inode: bigint | undefined
  readonly #enter: StatementSync
  readonly #leave: StatementSync
  readonly #head: StatementSync

  constructor(path: string) {
    this.#path = path
    this.#db = openDatabase(path)
    this.#inode = readInode(path)
    this.#enter = this.#db.prepare(ENTER)
    this.#leave = this.#db.prepare('DELETE FROM lease WHERE resource = ? AND ticket = ? AND owner = ?')
    this.#head = this.#db.prepare(HEAD)
  }

  /** False once the file was removed or replaced, because other processes then do not see these rows. */
  get isValid(): boolean {
    return this.#inode !== undefined && readInode(this.#path) === this.#inode
  }

  /**
   * Releases tickets and draws new ones, which it returns in the order of `enter`. Ticket 1 means that no
   * other owner is ahead.
   */
  exchange({ leave, enter }: Exchange, { owner, pid, startedAt }: LeaseOwner): number[] {
    return this.#transaction(() => {
      for (const { resource, ticket } of leave) this.#leave.run(resource, ticket, owner)
      return enter.map((resource) =>
        Number(this.#enter.get(resource, owner, pid ?? null, startedAt)!['ticket']),
      )
    })
  }

  head(resource: string): Head | undefined {
    const row = this.#head.get(resource)
    return row && toHead(row)
  }

  owners(): string[] {
    return this.#db
      .prepare('SELECT DISTINCT owner FROM lease')
      .all()
      .map((row) => String(row['owner']))
  }

  /** Removes every row of these owners, and returns the resources they held. */
  removeOwners(owners: readonly string[]): string[] {
    const heldQuery = this.#db.prepare(HELD)
    const remove = this.#db.prepare('DELETE FROM lease WHERE owner = ?')
    return this.#transaction(() => {
      const resources = owners.flatMap((owner) => heldQuery.all(owner).map((row) => String(row['resource'])))
      for (const owner of owners) remove.run(owner)
      return resources
    })
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  #transaction<T>(work: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.#db.exec('COMMIT')
      return result
    } catch (reason) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw reason
    }
  }
}

/**
 * Removes a damaged database, unless another process has already done so.
 *
 * Only one process at a time may do this, and only after a second check: otherwise the second process would
 * remove the new file of the first. Does nothing while another process is at it.
 */
export function discardDamaged(path: string, folder: string): void {
  using guard = tryLock(join(folder, 'repair'))
  if (!guard || isSound(path)) return
  rmSync(`${path}-journal`, { force: true })
  rmSync(path, { force: true })
}

const SCHEMA = `CREATE TABLE IF NOT EXISTS lease (
  resource TEXT NOT NULL, ticket INTEGER NOT NULL, owner TEXT NOT NULL, pid INTEGER, started_at TEXT NOT NULL,
  PRIMARY KEY (resource, ticket)) WITHOUT ROWID`
const ENTER = `INSERT INTO lease
  SELECT ?1, coalesce(max(ticket), 0) + 1, ?2, ?3, ?4 FROM lease WHERE resource = ?1 RETURNING ticket`
const HEAD = 'SELECT ticket, owner, pid, started_at FROM lease WHERE resource = ? ORDER BY ticket LIMIT 1'
const HELD = `SELECT resource FROM lease AS own WHERE owner = ?
  AND ticket = (SELECT min(ticket) FROM lease WHERE resource = own.resource)`

/** Opens the database without a busy timeout, so that a call never blocks the event loop. */
function openDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = PERSIST')
    db.exec(SCHEMA)
    return db
  } catch (reason) {
    db.close()
    throw reason
  }
}

function isSound(path: string): boolean {
  try {
    using db = openDatabase(path)
    return db.prepare('PRAGMA integrity_check').get()?.['integrity_check'] === 'ok'
  } catch (reason) {
    if (isDamaged(reason)) return false
    throw reason
  }
}

function readInode(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}

function toHead(row: Record<string, unknown>): Head {
  return {
    ticket: Number(row['ticket']),
    owner: String(row['owner']),
    pid: typeof row['pid'] === 'number' ? row['pid'] : undefined,
    startedAt: String(row['started_at']),
  }
}
