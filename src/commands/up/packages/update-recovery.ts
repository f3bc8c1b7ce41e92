import { sanitize } from '../../../core/base/sanitize.ts'
import type { HomePaths } from '../../../core/config/paths.ts'
import type { PackagePorts } from '../../../up/packages/ports.ts'
import type { RecoveredUpdate } from '../../../up/packages/recover-update.ts'
import { listTrials } from '../../../up/packages/rollback-record.ts'
import type { Command } from '../../command.ts'
import { resolvePaths } from '../../paths.ts'

/**
 * These commands, each of which first goes back from the versions of components that somebody tried who died: they may run,
 * and nobody knows whether they can. It looks for files, and loads more only where there are such.
 */
export function withUpdateRecovery(rows: readonly Command[]): Command[] {
  return rows.map((row) => ({
    ...row,
    load: async () => {
      const run = await row.load()
      return async (invocation) => {
        if (listTrials(resolvePaths(invocation.host)).length > 0) await recoverAll(invocation)
        return await run(invocation)
      }
    },
  }))
}

/** For what starts all services of a home: the versions before count again, and nothing is restarted. */
export async function revertUnfinishedUpdates(
  paths: HomePaths,
  platform: PackagePorts['platform'],
): Promise<void> {
  if (listTrials(paths).length === 0) return
  const { countRollbacks: countBack } = await import('../../../up/packages/recover-update.ts')
  const { findSoleHolder: soleHolder } = await import('../../../core/lease/sole-holder.ts')
  await countBack({ paths, platform }, async (name) => (await soleHolder(paths, name)) !== undefined)
}

type Invocation = Parameters<Awaited<ReturnType<Command['load']>>>[0]

/** What keeps it from that is said, and keeps nobody from anything. */
async function recoverAll({ options, host, commands, signal }: Invocation): Promise<void> {
  const { openPackagePorts: openPorts } = await import('./package-ports.ts')
  const { recoverUpdates: endCutOffTrials } = await import('../../../up/packages/recover-update.ts')
  const { toCrabError } = await import('../../../core/base/errors.ts')
  await using open = await openPorts({ host, options, commands, signal })
  try {
    for (const one of await endCutOffTrials(open.ports, open.signal)) {
      open.status.clear()
      host.stderr.write(`crabup: ${recoveredUpdateText(one)}\n`)
    }
  } catch (reason) {
    if (open.signal.aborted) throw reason
    host.stderr.write(`crabup: ${sanitize(toCrabError(reason).message)}\n`)
  }
}

function recoveredUpdateText({ name, tried, version, wasRestarted, failure }: RecoveredUpdate): string {
  const what = `the change of ${name}${tried === '' ? '' : ` to ${tried}`} was cut off; ${version} is back`
  if (failure) return `${what}, and does not start: ${sanitize(failure.message)}`
  return wasRestarted ? `${what} and runs again` : what
}
