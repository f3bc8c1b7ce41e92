import { existsSync } from 'node:fs'
import { CrabError } from '../../core/base/errors.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { findSoleHolder, takeSoleLease } from '../../core/lease/sole-holder.ts'
import type { LeaseHolder, SqliteLeases } from '../../core/lease/sqlite-leases.ts'
import type { Lease } from '../../core/lease/types.ts'

/** The right to fire the entries of a home. */
const SCHEDULER_LEASE = 'cron'

/** Takes that right. Throws `conflict`, at once, naming the process that has it; `unavailable` when others keep the leases locked. */
export async function acquireSchedulerLease(
  leases: SqliteLeases,
  { pid, home }: { pid: number; home: string },
): Promise<Lease> {
  return await takeSoleLease(leases, {
    resource: SCHEDULER_LEASE,
    pid,
    isTaken: (holder) => isTaken(home, holder),
    staysLocked: () => leasesLocked(home),
  })
}

/** Whether that process still has the right: not when the home was removed, or is another one by now. */
export async function holdsSchedulerLease(
  leases: SqliteLeases,
  { pid }: { pid: number },
  { leases: database }: Pick<HomePaths, 'leases'>,
): Promise<boolean> {
  if (!existsSync(database)) return false // asking would make another one
  return (await leases.describeHolder(SCHEDULER_LEASE))?.pid === pid
}

/** The process that fires the entries of a home, if one does; nothing is made on the disk for that. */
export async function findSchedulerHolder(paths: HomePaths): Promise<LeaseHolder | undefined> {
  return await findSoleHolder(paths, SCHEDULER_LEASE)
}

function isTaken(home: string, { pid, startedAt }: LeaseHolder): CrabError {
  const who = pid === undefined ? 'another process' : `process ${pid}`
  return new CrabError(
    'conflict',
    `Cannot start the scheduler: ${who} is that of ${home} since ${startedAt}`,
    {
      hint: 'see `crabtalk cron list`; end it with `crabup cron stop`, or end that process',
    },
  )
}

function leasesLocked(home: string): CrabError {
  return new CrabError('unavailable', `Cannot start the scheduler: the leases of ${home} stay locked`, {
    hint: 'another crabtalk process is stopped or stuck; end it and try again',
  })
}
