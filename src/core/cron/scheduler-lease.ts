import { existsSync } from 'node:fs'
import { CrabError } from '../base/errors.ts'
import type { HomePaths } from '../config/paths.ts'
import { findSoleHolder, takeSoleLease } from '../lease/sole-holder.ts'
import type { LeaseHolder, SqliteLeases } from '../lease/sqlite-leases.ts'
import type { Lease } from '../lease/types.ts'

/** The lease for firing the entries of a home. */
const SCHEDULER_LEASE = 'cron'

/**
 * Takes that lease. Throws `conflict` immediately, naming the holder, or `unavailable` when other processes
 * keep the leases locked.
 */
export async function acquireSchedulerLease(
  leases: SqliteLeases,
  { pid, home }: { pid: number; home: string },
): Promise<Lease> {
  return await takeSoleLease(leases, {
    resource: SCHEDULER_LEASE,
    pid,
    isTaken: (holder) => takenError(home, holder),
    staysLocked: () => leasesLockedError(home),
  })
}

/** Whether this process still holds the lease; false when the home was removed or replaced. */
export async function holdsSchedulerLease(
  leases: SqliteLeases,
  { pid }: { pid: number },
  { leases: database }: Pick<HomePaths, 'leases'>,
): Promise<boolean> {
  if (!existsSync(database)) return false // a query would create another one
  return (await leases.describeHolder(SCHEDULER_LEASE))?.pid === pid
}

/** Returns the process that fires the entries of a home, if any. Creates nothing on disk. */
export async function findSchedulerHolder(paths: HomePaths): Promise<LeaseHolder | undefined> {
  return await findSoleHolder(paths, SCHEDULER_LEASE)
}

function takenError(home: string, { pid, startedAt }: LeaseHolder): CrabError {
  const who = pid === undefined ? 'another process' : `process ${pid}`
  return new CrabError(
    'conflict',
    `Cannot start the scheduler: ${who} has been the scheduler of ${home} since ${startedAt}`,
    {
      hint: 'see `crabtalk cron list`; end it with `crabup cron stop`, or end that process',
    },
  )
}

function leasesLockedError(home: string): CrabError {
  return new CrabError('unavailable', `Cannot start the scheduler: the leases of ${home} are locked`, {
    hint: 'another crabtalk process is stopped or stuck; end it and try again',
  })
}
