import { existsSync } from 'node:fs'
import { CrabError } from '../../core/base/errors.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { soleHolder, takeSole } from '../../core/lease/sole-holder.ts'
import type { Holder, SqliteLeases } from '../../core/lease/sqlite-leases.ts'
import type { Lease } from '../../core/lease/types.ts'

/** The right to fire the entries of a home. */
const SCHEDULER_LEASE = 'cron'

/** Takes that right. Throws `conflict`, at once, naming the process that has it; `unavailable` when others keep the leases locked. */
export async function takeScheduler(
  leases: SqliteLeases,
  { pid, home }: { pid: number; home: string },
): Promise<Lease> {
  return await takeSole(leases, {
    resource: SCHEDULER_LEASE,
    pid,
    isTaken: (holder) => isTaken(home, holder),
    staysLocked: () => staysLocked(home),
  })
}

/** Whether that process still has the right: not when the home was removed, or is another one by now. */
export async function holdsScheduler(
  leases: SqliteLeases,
  { pid }: { pid: number },
  { leases: database }: Pick<HomePaths, 'leases'>,
): Promise<boolean> {
  if (!existsSync(database)) return false // asking would make another one
  return (await leases.describeHolder(SCHEDULER_LEASE))?.pid === pid
}

/** The process that fires the entries of a home, if one does; nothing is made on the disk for that. */
export async function schedulerHolder(paths: HomePaths): Promise<Holder | undefined> {
  return await soleHolder(paths, SCHEDULER_LEASE)
}

function isTaken(home: string, { pid, startedAt }: Holder): CrabError {
  const who = pid === undefined ? 'another process' : `process ${pid}`
  return new CrabError(
    'conflict',
    `Cannot start the scheduler: ${who} is that of ${home} since ${startedAt}`,
    {
      hint: 'see `crabtalk cron list`; end it with `crabup cron stop`, or end that process',
    },
  )
}

function staysLocked(home: string): CrabError {
  return new CrabError('unavailable', `Cannot start the scheduler: the leases of ${home} stay locked`, {
    hint: 'another crabtalk process is stopped or stuck; end it and try again',
  })
}
