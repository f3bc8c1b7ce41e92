import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import type { RunRecord } from '../../cli/turn/record.ts'
import type { CrabError } from '../../core/base/errors.ts'
import type { CronEntry } from '../../core/cron/cron-entry.ts'
import { toLastRun } from '../../core/cron/cron-state.ts'
import { recordManualRun, toManualRun } from '../../core/cron/manual-runs.ts'
import { cronFiles } from '../../core/cron/ready-file.ts'
import { openHomeLeases } from './home-leases.ts'

/** Records a run that a person started, for `cron list`. Throws `storage`, or `timeout` after 2 s. */
export async function recordRun(
  host: Pick<Host, 'env' | 'cwd' | 'homeDir' | 'pid'>,
  ended: { entry: CronEntry; record: RunRecord; due: number; error: CrabError | undefined },
): Promise<void> {
  const { entry, due, error, record } = ended
  const fired = record.run === '' ? undefined : { run: record.run, session: record.session }
  const run = toManualRun(entry, toLastRun({ due, now: Date.now(), fired, error }))
  await using leases = await openHomeLeases(host)
  const file = { path: cronFiles(resolvePaths(host)).byHand, lock: leases.lease }
  await recordManualRun(file, run, AbortSignal.timeout(RECORD_TIMEOUT_MS))
}

const RECORD_TIMEOUT_MS = 2000
