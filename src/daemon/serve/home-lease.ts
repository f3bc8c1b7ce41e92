import { CrabError } from '../../core/base/errors.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { findSoleHolder, type InspectableLeases, takeSoleLease } from '../../core/lease/sole-holder.ts'
import type { LeaseHolder } from '../../core/lease/sqlite-leases.ts'
import type { Lease } from '../../core/lease/types.ts'

/** The lease that makes a process the daemon of a home (ADR 0030). */
export const DAEMON_LEASE = 'daemon'

/**
 * Takes the lease of the daemon. Fails immediately with `conflict`, naming the holder, or with `unavailable`
 * when other processes keep the leases locked.
 */
export async function takeHome(
  leases: InspectableLeases,
  { pid, home, waitMs }: { pid: number; home: string; waitMs?: number },
): Promise<Lease> {
  return await takeSoleLease(leases, {
    resource: DAEMON_LEASE,
    pid,
    waitMs,
    isTaken: (holder) => takenError(home, holder),
    staysLocked: () => leasesLockedError(home),
  })
}

/**
 * Returns the process that is the daemon of a home, including while it starts or shuts down. Creates nothing
 * on disk.
 */
export async function homeHolder(paths: HomePaths): Promise<LeaseHolder | undefined> {
  return await findSoleHolder(paths, DAEMON_LEASE)
}

function takenError(home: string, { pid, startedAt }: LeaseHolder): CrabError {
  const who = pid === undefined ? 'another process' : `process ${pid}`
  const why = `${who} has been the daemon of ${home} since ${startedAt}`
  return new CrabError('conflict', `Cannot start the daemon: ${why}`, {
    hint: 'see crabtalk daemon status; end it with crabtalk daemon stop',
  })
}

function leasesLockedError(home: string): CrabError {
  return new CrabError('unavailable', `Cannot start the daemon: the leases of ${home} are locked`, {
    hint: 'another crabtalk process is stopped or stuck; end it and try again',
  })
}
