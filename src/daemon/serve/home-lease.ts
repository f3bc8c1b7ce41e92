import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../../core/base/errors.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import type { Holder } from '../../core/lease/sqlite-leases.ts'
import type { Lease, Leases } from '../../core/lease/types.ts'

/** The right to be the daemon of a home (decisions 16 and 32). */
export const DAEMON_LEASE = 'daemon'
/** A database that others write to is waited for so long. */
const WAIT_MS = 5000
const LOOK_MS = 10

/** What says who holds a lease. */
interface KnownLeases extends Leases {
  describeHolder(resource: string): Promise<Holder | undefined>
}

/** Takes that right. `conflict`, at once, naming the process that has it; `unavailable` when others keep the leases locked. */
export async function takeHome(
  leases: KnownLeases,
  { pid, home, waitMs = WAIT_MS }: { pid: number; home: string; waitMs?: number },
): Promise<Lease> {
  const giveUp = new AbortController()
  const timer = setTimeout(() => giveUp.abort(staysLocked(home)), waitMs)
  try {
    const taking = leases.take(DAEMON_LEASE, giveUp.signal)
    taking.catch(() => {}) // awaited below, unless another has it
    for (;;) {
      const holder = await leases.describeHolder(DAEMON_LEASE)
      if (holder?.pid === pid) return await taking
      if (holder) {
        giveUp.abort()
        throw isTaken(home, holder)
      }
      // Nobody has it, this process neither: it waits for the leases, and another may be first.
      const lease = await Promise.race([taking, sleep(LOOK_MS)])
      if (lease) return lease
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The process that is the daemon of a home, also while it starts or ends; nothing is made on the disk for that. */
export async function homeHolder({ leases: database, proc }: HomePaths): Promise<Holder | undefined> {
  if (!existsSync(database)) return undefined
  const { SqliteLeases } = await import('../../core/lease/sqlite-leases.ts')
  await using leases = new SqliteLeases({ database, proc })
  return await leases.describeHolder(DAEMON_LEASE)
}

function isTaken(home: string, { pid, startedAt }: Holder): CrabError {
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
