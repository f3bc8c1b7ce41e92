import type { CommandHandler } from '../../../cli/command.ts'
import { CrabError } from '../../../core/base/errors.ts'
import { readFamilies } from '../../../core/process/process-table.ts'
import { markLogs } from '../../../up/logs/last-lines.ts'
import { fetchStatus, isActive, type OpenService, openService } from '../../../up/services/open-service.ts'
import type { ManagerKind, ServiceStatus } from '../../../up/types.ts'
import { requireValidConfiguration } from './check-configuration.ts'
import { isDryRun, printPlan } from './dry-run.ts'
import { printReady, printRetainedPath } from './print-ready.ts'
import { startService } from './start.ts'
import { waitForTurns } from './turns.ts'
import { showEdits } from './unit-diff.ts'

/** `crabup NAME restart`: stops a service once its turns have ended, and starts it with its current spec. */
export const restartServiceCommand: CommandHandler = async ({ path: [name = ''], options, host, signal }) => {
  const handle = await openService(host, name, signal)
  await requireValidConfiguration(handle)
  if (isDryRun(options)) return await printPlan(handle, 'restart')
  const before = await fetchStatus(handle, signal)
  if (!isActive(before)) return await startService(handle, { options }, signal)
  await refuseSelfRestart(handle, before, { now: options.has('now') })
  const spec = handle.spec()
  printRetainedPath(handle)
  await showEdits(handle, spec, { options }, signal)
  if (name === 'daemon') await waitForTurns(host, { verb: 'restart', now: options.has('now') }, signal)
  const since = await markLogs(handle.paths.logs, name)
  await handle.manager.restart(spec, signal)
  await printReady(handle, { word: () => 'was restarted', since, isFirst: false }, signal)
  return 0
}

/**
 * Throws `conflict` when this command would wait for or end itself: when it runs in a turn of the daemon,
 * which the restart would wait for unless `now` is set; or when it runs inside the service (as a command of
 * an agent does) and the service manager cannot continue the restart without it.
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
      `Cannot restart ${service.name}: this command runs in one of its turns, and would wait for itself`,
      {
        hint: `run crabup ${service.name} restart in another terminal, or cancel the turn with --now`,
      },
    )
  }
  throw new CrabError(
    'conflict',
    `Cannot restart ${service.name}: this command runs inside it and would end with it`,
    {
      hint: `run crabup ${service.name} restart in another terminal`,
    },
  )
}

/** The managers that complete a restart even after the command that requested it is gone. */
const RESTARTS_ITSELF: ReadonlySet<ManagerKind> = new Set(['systemd', 'supervisor'])
