import * as z from 'zod/mini'
import { replaceFile } from '../base/files.ts'
import { readTextFile } from '../config/load-config.ts'
import { type CronEntry, cronContent } from './cron-entry.ts'
import { type LastRun, lastRun } from './cron-state.ts'

const manualRun = z.object({
  id: z.number(),
  /** What the entry said then, and to whom: an id may be another entry's by now. */
  content: z.string(),
  agent: z.string(),
  last: lastRun,
})

const manualRuns = z.object({
  v: z.literal(1),
  /** The latest first, one of an entry. */
  runs: z.array(manualRun),
})

/** The latest run of an entry that a person began. */
export type ManualRun = z.infer<typeof manualRun>

/** Most that are kept. */
const MAX_RUNS = 100

/** A run of an entry as it is now. */
export function toManualRun(entry: CronEntry, last: LastRun): ManualRun {
  return { id: entry.id, content: cronContent(entry), agent: entry.agent, last }
}

/** How an entry ended when a person ran it last, as it is now. */
export function findManualRun(runs: readonly ManualRun[], entry: CronEntry): LastRun | undefined {
  const content = cronContent(entry)
  return runs.find((run) => run.id === entry.id && run.content === content && run.agent === entry.agent)?.last
}

/** What run/cron-by-hand.json says; nothing where there is none that this version understands. Fails with `storage`. */
export async function readManualRuns(path: string): Promise<ManualRun[]> {
  const text = await readTextFile(path)
  try {
    return z.parse(manualRuns, JSON.parse(text ?? '')).runs
  } catch {
    return [] // nobody depends on it
  }
}

/** Notes one, in place of an earlier one of that entry. `lock` takes the right among all processes of the home. Fails with `storage`. */
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
