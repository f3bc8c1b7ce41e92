import { markLogs } from '../../../up/control/last-words.ts'
import type { Run } from '../../command.ts'
import { checkConfiguration } from './check-configuration.ts'
import { isDryRun, printPlan } from './dry-run.ts'
import { isKept, openService, statusOf } from './open-service.ts'
import { mustBeOutside } from './outside.ts'
import { sayReady, tellKeptPath } from './said.ts'
import { startService } from './start.ts'
import { settleTurns } from './turns.ts'
import { showEdits } from './unit-diff.ts'

/** `crabup NAME restart`: ends a service once its turns have ended, and starts it as it is to be now. */
export const restart: Run = async ({ path: [name = ''], options, host, signal }) => {
  const at = await openService(host, name, signal)
  await checkConfiguration(at)
  if (isDryRun(options)) return await printPlan(at, 'restart')
  const before = await statusOf(at, signal)
  if (!isKept(before)) return await startService(at, { options }, signal)
  await mustBeOutside(at, before, { now: options.has('now') })
  const spec = at.spec()
  tellKeptPath(at)
  await showEdits(at, spec, { options }, signal)
  if (name === 'daemon') await settleTurns(host, { verb: 'restart', now: options.has('now') }, signal)
  const since = await markLogs(at.paths.logs, name)
  await at.manager.restart(spec, signal)
  await sayReady(at, { word: () => 'was restarted', since, isFirst: false }, signal)
  return 0
}
