import * as z from 'zod/mini'
import { replaceFile } from '../base/files.ts'
import { readTextFile } from '../config/load-config.ts'

const failure = z.object({ kind: z.string(), message: z.string(), hint: z.optional(z.string()) })

/** How a turn of an entry ended, as files have it. */
export const lastRun = z.object({
  /** When it was due, and when it ended; milliseconds since 1970. */
  due: z.number(),
  ended: z.number(),
  outcome: z.enum(['ok', 'failed', 'cancelled']),
  error: z.optional(failure),
  run: z.optional(z.string()),
  session: z.optional(z.string()),
})

const entryState = z.object({
  id: z.number(),
  /** When it fires next; absent when it does not any more. */
  next: z.optional(z.number()),
  /** Since when a turn of it runs. */
  running: z.optional(z.number()),
  last: z.optional(lastRun),
  /** How often it fired; how many of those failed, and how many of these came after the last that did not. */
  fired: z.number(),
  failed: z.number(),
  failing: z.number(),
  /** How often it was due while a turn of it still ran, and while this machine, or the scheduler, slept. */
  skipped: z.number(),
  missed: z.number(),
  /** Of one that fires once, when it has: the entry as it was, as JSON. It must not fire again. */
  claim: z.optional(z.string()),
})

const stateFile = z.object({
  v: z.literal(1),
  /** Highest id of an entry so far: none comes back. */
  highest: z.number(),
  /** Why the entries are not those of the file. */
  broken: z.optional(failure),
  entries: z.array(entryState),
  /** What fired once and is no entry any more, the latest first. */
  gone: z.array(z.object({ id: z.number(), content: z.string(), agent: z.string(), last: lastRun })),
})

/** How a fire ended. */
export type LastRun = z.infer<typeof lastRun>

/** What is known of an entry besides its file. */
export type EntryState = z.infer<typeof entryState>

/** What the scheduler leaves in run/cron-state.json, for those who want to know how entries fare. */
export type CronState = z.infer<typeof stateFile>

export const EMPTY_CRON_STATE: CronState = { v: 1, highest: 0, entries: [], gone: [] }

/** Most of `gone`. */
export const MAX_REMOVED_ENTRIES = 20

/** Of an entry that never fired. */
export function newEntryState(id: number): EntryState {
  return { id, fired: 0, failed: 0, failing: 0, skipped: 0, missed: 0 }
}

/** What the file says; the empty state where there is none, or none that this version understands. Fails with `storage`. */
export async function readCronState(path: string): Promise<CronState> {
  const text = await readTextFile(path)
  try {
    const read = z.safeParse(stateFile, JSON.parse(text ?? ''))
    return read.success ? read.data : EMPTY_CRON_STATE
  } catch {
    return EMPTY_CRON_STATE // nobody depends on it: what it counted begins anew
  }
}

/** Replaces the file. Fails with `storage`. */
export async function writeCronState(path: string, state: CronState): Promise<void> {
  await replaceFile(path, `${JSON.stringify(state)}\n`)
}
