import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CrabError } from '../base/errors.ts'
import type { HomePaths } from '../config/paths.ts'
import type { LeaseHolder } from './sqlite-leases.ts'
import type { Lease, Leases } from './types.ts'

/** What says who holds a lease. */
export interface InspectableLeases extends Leases {
  describeHolder(resource: string): Promise<LeaseHolder | undefined>
}

export interface SoleLeaseOptions {
  resource: string
  /** Of this process. */
  pid: number
  /** How long a database that others write to is waited for; by default 5 s. */
  waitMs?: number | undefined
  /** The failure where another process has it. */
  isTaken(holder: LeaseHolder): CrabError
  /** The failure where others keep the leases locked. */
  staysLocked(): CrabError
}

/** Takes a lease that a process has for all its life, and does not wait for one that has it: then it throws at once. */
export async function takeSoleLease(
  leases: InspectableLeases,
  { resource, pid, waitMs = WAIT_MS, isTaken, staysLocked }: SoleLeaseOptions,
): Promise<Lease> {
  const giveUp = new AbortController()
  const timer = setTimeout(() => giveUp.abort(staysLocked()), waitMs)
  try {
    const taking = leases.take(resource, giveUp.signal)
    taking.catch(() => {}) // awaited below, unless another has it
    for (;;) {
      const holder = await leases.describeHolder(resource)
      if (holder?.pid === pid) return await taking
      if (holder) {
        giveUp.abort()
        throw isTaken(holder)
      }
      // Nobody has it, this process neither: it waits for the leases, and another may be first.
      const lease = await Promise.race([taking, sleep(LOOK_MS)])
      if (lease) return lease
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The process that has a lease of a home, if one does; nothing is made on the disk for that. */
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
