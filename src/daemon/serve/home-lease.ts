import { CrabError } from '../../core/base/errors.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { findSoleHolder, type InspectableLeases, takeSoleLease } from '../../core/lease/sole-holder.ts'
import type { LeaseHolder } from '../../core/lease/sqlite-leases.ts'
import type { Lease } from '../../core/lease/types.ts'

/** The right to be the daemon of a home (decisions 16 and 32). */
export const DAEMON_LEASE = 'daemon'

/** Takes that right. `conflict`, at once, naming the process that has it; `unavailable` when others keep the leases locked. */
export async function takeHome(
  leases: InspectableLeases,
  { pid, home, waitMs }: { pid: number; home: string; waitMs?: number },
): Promise<Lease> {
  return await takeSoleLease(leases, {
    resource: DAEMON_LEASE,
    pid,
    waitMs,
    isTaken: (holder) => isTaken(home, holder),
    staysLocked: () => staysLocked(home),
  })
}

/** The process that is the daemon of a home, also while it starts or ends; nothing is made on the disk for that. */
export async function homeHolder(paths: HomePaths): Promise<LeaseHolder | undefined> {
  return await findSoleHolder(paths, DAEMON_LEASE)
}

function isTaken(home: string, { pid, startedAt }: LeaseHolder): CrabError {
  const who = pid === undefined ? 'another process' : `process ${pid}`
  const why = `${who} is the daemon of ${home} since ${startedAt}`
  return new CrabError('conflict', `Cannot start the daemon: ${why}`, {
    hint: 'see `crabtalk daemon status`; end it with `crabtalk daemon stop`',
  })
}

function staysLocked(home: string): CrabError {
  return new CrabError('unavailable', `Cannot start the daemon: the leases of ${home} stay locked`, {
    hint: 'another crabtalk process is stopped or stuck; end it and try again',
  })
}
