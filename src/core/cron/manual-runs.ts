import * as z from 'zod/mini'
import { replaceFile } from '../base/files.ts'
import { readTextFile } from '../config/load-config.ts'
import { type CronEntry, cronContent } from './cron-entry.ts'
import { type LastRun, lastRun } from './cron-state.ts'

const manualRun = z.object({
  id: z.number(),
  /** The message and agent at the time of the run: the id may belong to another entry by now. */
  content: z.string(),
  agent: z.string(),
  last: lastRun,
})

const manualRuns = z.object({
  v: z.literal(1),
  /** The latest first, one per entry. */
  runs: z.array(manualRun),
})

/** The latest run of an entry that a person started. */
export type ManualRun = z.infer<typeof manualRun>

/** The maximum number of runs kept. */
const MAX_RUNS = 100

/** Returns the record of a run of the entry in its current form. */
export function toManualRun(entry: CronEntry, last: LastRun): ManualRun {
  return { id: entry.id, content: cronContent(entry), agent: entry.agent, last }
}

/** Returns the outcome of the last manual run of an entry; undefined if the entry changed since. */
export function findManualRun(runs: readonly ManualRun[], entry: CronEntry): LastRun | undefined {
  const content = cronContent(entry)
  return runs.find((run) => run.id === entry.id && run.content === content && run.agent === entry.agent)?.last
}

/**
 * Reads run/cron-by-hand.json; returns an empty list when it does not exist or this version cannot read it.
 * Throws `storage`.
 */
export async function readManualRuns(path: string): Promise<ManualRun[]> {
  const text = await readTextFile(path)
  try {
    return z.parse(manualRuns, JSON.parse(text ?? '')).runs
  } catch {
    return [] // nothing depends on it
  }
}

/**
 * Records a run, replacing an earlier one of that entry. `lock` acquires a lease that is exclusive among all
 * processes of the home. Throws `storage`.
 */
export async function recordManualRun(
  { path, lock }: { path: string; lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable> },
  run: ManualRun,
  signal: AbortSignal,
): Promise<void> {
  await using _ = await lock(`file:${path}`, signal)
  const others = (await readManualRuns(path)).filter(({ id }) => id !== run.id)
  const runs = [run, ...others].slice(0, MAX_RUNS)
  await replaceFile(path, `${JSON.stringify({ v: 1, runs })}\n`)
}
