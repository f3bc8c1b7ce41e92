import { sanitize } from '../../../core/base/sanitize.ts'
import type { HomePaths } from '../../../core/config/paths.ts'
import type { CutOff } from '../../../up/packages/cut-off.ts'
import type { PackagePorts } from '../../../up/packages/ports.ts'
import { namesOnTrial } from '../../../up/packages/way-back.ts'
import type { Command } from '../../command.ts'
import { pathsOf } from '../../paths.ts'

/**
 * These commands, each of which first goes back from the versions of components that somebody tried who died: they may run,
 * and nobody knows whether they can. It looks for files, and loads more only where there are such.
 */
export function afterCutOffTrials(rows: readonly Command[]): Command[] {
  return rows.map((row) => ({
    ...row,
    load: async () => {
      const run = await row.load()
      return async (invocation) => {
        if (namesOnTrial(pathsOf(invocation.host)).length > 0) await goBack(invocation)
        return await run(invocation)
      }
    },
  }))
}

/** For what starts all services of a home: the versions before count again, and nothing is restarted. */
export async function countBackFirst(paths: HomePaths, platform: PackagePorts['platform']): Promise<void> {
  if (namesOnTrial(paths).length === 0) return
  const { countBack } = await import('../../../up/packages/cut-off.ts')
  const { soleHolder } = await import('../../../core/lease/sole-holder.ts')
  await countBack({ paths, platform }, async (name) => (await soleHolder(paths, name)) !== undefined)
}

type Invocation = Parameters<Awaited<ReturnType<Command['load']>>>[0]

/** What keeps it from that is said, and keeps nobody from anything. */
async function goBack({ options, host, commands, signal }: Invocation): Promise<void> {
  const { openPorts } = await import('./package-ports.ts')
  const { endCutOffTrials } = await import('../../../up/packages/cut-off.ts')
  const { toCrabError } = await import('../../../core/base/errors.ts')
  await using open = await openPorts({ host, options, commands, signal })
  try {
    for (const one of await endCutOffTrials(open.ports, open.signal)) {
      open.status.clear()
      host.stderr.write(`crabup: ${cutOffText(one)}\n`)
    }
  } catch (reason) {
    if (open.signal.aborted) throw reason
    host.stderr.write(`crabup: ${sanitize(toCrabError(reason).message)}\n`)
  }
}

function cutOffText({ name, tried, version, wasRestarted, failure }: CutOff): string {
  const what = `the change of ${name}${tried === '' ? '' : ` to ${tried}`} was cut off; ${version} is back`
  if (failure) return `${what}, and does not start: ${sanitize(failure.message)}`
  return wasRestarted ? `${what} and runs again` : what
}
