import { CrabError } from '../../../core/base/errors.ts'
import { readFamilies } from '../../../core/process/process-table.ts'
import type { ManagerKind, ServiceStatus } from '../../../up/types.ts'
import type { OpenService } from './open-service.ts'

/**
 * Fails with `conflict` where this command runs in a turn of the daemon, which a restart waits for, unless it is cut; and where this command runs inside the service that it is to restart, as one of an agent does, and its
 * service manager only ends it: the command would be gone before it could start it again.
 */
export async function refuseSelfRestart(
  { manager, host, service }: Pick<OpenService, 'manager' | 'host' | 'service'>,
  { pid }: ServiceStatus,
  { now }: { now: boolean },
): Promise<void> {
  if (pid === undefined) return
  const survives = RESTARTS_ITSELF.has(manager.kind)
  if (survives && (now || service.name !== 'daemon')) return
  const family = (await readFamilies([pid])).get(pid)
  if (!family?.pids.includes(host.pid)) return
  if (survives) {
    throw new CrabError(
      'conflict',
      `Cannot restart ${service.name}: this command runs in one of its turns, which it would wait for`,
      {
        hint: `run crabup ${service.name} restart in a terminal of your own, or cut the turn with --now`,
      },
    )
  }
  throw new CrabError(
    'conflict',
    `Cannot restart ${service.name}: this command runs inside it and would end with it`,
    {
      hint: `run crabup ${service.name} restart in a terminal of your own`,
    },
  )
}

/** Who goes on with a restart when the command is gone that asked for it. */
const RESTARTS_ITSELF: ReadonlySet<ManagerKind> = new Set(['systemd', 'supervisor'])
