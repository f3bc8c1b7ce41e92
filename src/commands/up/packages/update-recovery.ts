import type { Command } from '../../../cli/command.ts'
import { resolvePaths } from '../../../cli/paths.ts'
import { sanitize } from '../../../core/base/sanitize.ts'
import type { RecoveredUpdate } from '../../../up/packages/activate.ts'
import { listTrials } from '../../../up/packages/component-folder.ts'

/**
 * Wraps commands so that each first recovers interrupted updates: a component may be running a version that
 * was never confirmed to start. It only looks for files, and loads more code when it finds one.
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

type Invocation = Parameters<Awaited<ReturnType<Command['load']>>>[0]

/** A failed recovery is reported and does not stop the command. */
async function recoverAll({ options, host, commands, signal }: Invocation): Promise<void> {
  const { openPackagePorts } = await import('./package-ports.ts')
  const { recoverUpdates } = await import('../../../up/packages/activate.ts')
  const { toCrabError } = await import('../../../core/base/errors.ts')
  await using open = await openPackagePorts({ host, options, commands, signal })
  try {
    for (const one of await recoverUpdates(open.ports, open.signal)) {
      open.status.clear()
      host.stderr.write(`crabup: ${recoveredUpdateText(one)}\n`)
    }
  } catch (reason) {
    if (open.signal.aborted) throw reason
    host.stderr.write(`crabup: ${sanitize(toCrabError(reason).message)}\n`)
  }
}

function recoveredUpdateText({ name, tried, version, wasRestarted, failure }: RecoveredUpdate): string {
  const what = `the change of ${name}${tried === '' ? '' : ` to ${tried}`} was interrupted; ${version} is current again`
  if (failure) return `${what}, but does not start: ${sanitize(failure.message)}`
  return wasRestarted ? `${what} and running` : what
}
