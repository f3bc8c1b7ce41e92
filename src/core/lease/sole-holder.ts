import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { withDeadline } from '../base/deadline.ts'
import type { CrabError } from '../base/errors.ts'
import type { HomePaths } from '../config/paths.ts'
import type { LeaseHolder } from './sqlite-leases.ts'
import type { Lease, Leases } from './types.ts'

/** Leases that report their holders. */
export interface InspectableLeases extends Leases {
  describeHolder(resource: string): Promise<LeaseHolder | undefined>
}

/** The options of takeSoleLease(). */
export interface SoleLeaseOptions {
  resource: string
  /** The id of this process. */
  pid: number
  /** The time to wait for a locked database; by default 5 s. */
  waitMs?: number | undefined
  /** Creates the error for a lease that another process holds. */
  isTaken(holder: LeaseHolder): CrabError
  /** Creates the error for a database that stays locked. */
  staysLocked(): CrabError
}

/**
 * Takes a lease that a process holds for its whole life. Throws immediately, instead of waiting, when another
 * process holds it.
 */
export async function takeSoleLease(
  leases: InspectableLeases,
  { resource, pid, waitMs = WAIT_MS, isTaken, staysLocked }: SoleLeaseOptions,
): Promise<Lease> {
  const giveUp = new AbortController()
  const takeUnlessHeld = async (signal: AbortSignal) => {
    const pending = leases.take(resource, signal)
    pending.catch(() => {}) // awaited below unless another process holds it
    for (;;) {
      const holder = await leases.describeHolder(resource)
      if (holder?.pid === pid) return await pending
      if (holder) {
        giveUp.abort()
        throw isTaken(holder)
      }
      // No process holds it yet: this one waits for the database, and another may get it first.
      const lease = await Promise.race([pending, sleep(LOOK_MS)])
      if (lease) return lease
    }
  }
  return await withDeadline(takeUnlessHeld, { ms: waitMs, toError: staysLocked }, giveUp.signal)
}

/** Returns the process that holds a lease of a home, if any. Creates nothing on disk. */
export async function findSoleHolder(
  { leases: database, proc }: HomePaths,
  resource: string,
): Promise<LeaseHolder | undefined> {
  if (!existsSync(database)) return undefined
  const { SqliteLeases } = await import('./sqlite-leases.ts')
  await using leases = new SqliteLeases({ database, proc })
  return await leases.describeHolder(resource)
}

const WAIT_MS = 5000
const LOOK_MS = 10
