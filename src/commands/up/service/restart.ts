import type { CommandHandler } from '../../../cli/command.ts'
import { markLogs } from '../../../up/control/last-lines.ts'
import { requireValidConfiguration } from './check-configuration.ts'
import { isDryRun, printPlan } from './dry-run.ts'
import { fetchStatus, isKept, openService } from './open-service.ts'
import { printKeptPath, printReady } from './print-ready.ts'
import { refuseSelfRestart } from './refuse-self-restart.ts'
import { startService } from './start.ts'
import { waitForTurns } from './turns.ts'
import { showEdits } from './unit-diff.ts'

/** `crabup NAME restart`: stops a service once its turns have ended, and starts it with its current spec. */
export const restartServiceCommand: CommandHandler = async ({ path: [name = ''], options, host, signal }) => {
  const at = await openService(host, name, signal)
  await requireValidConfiguration(at)
  if (isDryRun(options)) return await printPlan(at, 'restart')
  const before = await fetchStatus(at, signal)
  if (!isKept(before)) return await startService(at, { options }, signal)
  await refuseSelfRestart(at, before, { now: options.has('now') })
  const spec = at.spec()
  printKeptPath(at)
  await showEdits(at, spec, { options }, signal)
  if (name === 'daemon') await waitForTurns(host, { verb: 'restart', now: options.has('now') }, signal)
  const since = await markLogs(at.paths.logs, name)
  await at.manager.restart(spec, signal)
  await printReady(at, { word: () => 'was restarted', since, isFirst: false }, signal)
  return 0
}
