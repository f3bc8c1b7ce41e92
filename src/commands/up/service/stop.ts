import type { CommandHandler } from '../../../cli/command.ts'
import type { Host } from '../../../cli/host.ts'
import { endDaemon } from '../../../daemon/serve/end-daemon.ts'
import {
  fetchStatus,
  findOrphanedUnit,
  isActive,
  type OpenService,
  openService,
} from '../../../up/services/open-service.ts'
import { toDaemonTarget } from '../../daemon/running.ts'
import { isDryRun, printPlan } from './dry-run.ts'

/** `crabup NAME stop`: stops a service, which stays installed. */
export const stopServiceCommand: CommandHandler = async ({ path: [name = ''], options, host, signal }) => {
  const left = await findOrphanedUnit(host, name, signal)
  if (left && !isDryRun(options)) {
    await left.manager.remove(left.label, signal)
    host.stdout.write(`${name} stopped, and its unit removed: the component is not installed\n`)
    return 0
  }
  const handle = await openService(host, name, signal)
  if (isDryRun(options)) return await printPlan(handle, 'stop')
  const before = await fetchStatus(handle, signal)
  if (before.isInstalled || isActive(before)) await handle.manager.stop(handle.stopSpec, signal)
  const other = await endOnDemand(handle, signal)
  const pid = isActive(before) ? before.pid : other
  const ended = `${name} stopped${pid === undefined ? '' : ` (pid ${pid})`}`
  const again = before.isEnabled && handle.manager.kind !== 'supervisor' ? '; it starts again at login' : ''
  host.stdout.write(
    isActive(before) || other !== undefined ? `${ended}${again}\n` : `${name} is not running${again}\n`,
  )
  return 0
}

/** Ends a daemon that a command started on demand as well, but not one that the user runs. */
async function endOnDemand(handle: OpenService<Host>, signal: AbortSignal): Promise<number | undefined> {
  if (handle.service.name !== 'daemon') return undefined
  const { answers, idleExitMs, pid } = await handle.probe('daemon', signal)
  if (answers && idleExitMs !== undefined) return await endDaemon(toDaemonTarget(handle.host), signal)
  if (answers) {
    const who = pid === undefined ? 'a daemon' : `the daemon (process ${pid})`
    handle.host.stderr.write(
      `crabup: ${who} keeps running: it was started by hand; end it with crabtalk daemon stop\n`,
    )
  }
  return undefined
}
