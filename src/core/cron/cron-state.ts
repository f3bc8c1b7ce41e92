import * as z from 'zod/mini'
import { type CrabError, toCrabError } from '../base/errors.ts'
import { replaceFile } from '../base/files.ts'
import { Serial } from '../base/serial.ts'
import { readTextFile } from '../config/load-config.ts'

const failure = z.object({ kind: z.string(), message: z.string(), hint: z.optional(z.string()) })

/** The schema of a finished turn. */
export const lastRun = z.object({
  /** The time it was due and the time it ended; milliseconds since 1970. */
  due: z.number(),
  ended: z.number(),
  outcome: z.enum(['ok', 'failed', 'cancelled']),
  error: z.optional(failure),
  run: z.optional(z.string()),
  session: z.optional(z.string()),
})

const entryState = z.object({
  id: z.number(),
  /** The time of the next fire; absent when there is none. */
  next: z.optional(z.number()),
  /** The start time of the running turn. */
  running: z.optional(z.number()),
  last: z.optional(lastRun),
  /** The number of fires; of those that failed; and of failures since the last success. */
  fired: z.number(),
  failed: z.number(),
  failing: z.number(),
  /**
   * The number of fires skipped because a turn was still running, and of those missed while the machine slept
   * or no scheduler ran.
   */
  skipped: z.number(),
  missed: z.number(),
  /** Set on a `once` entry that has fired: the entry at that time, as JSON. It must not fire again. */
  claim: z.optional(z.string()),
})

const stateFile = z.object({
  v: z.literal(1),
  /** The highest entry id so far; ids are never reused. */
  highest: z.number(),
  /** The reason why the entries are not those of the file. */
  broken: z.optional(failure),
  entries: z.array(entryState),
  /** The `once` entries that have fired and were removed, the latest first. */
  gone: z.array(z.object({ id: z.number(), content: z.string(), agent: z.string(), last: lastRun })),
})

/** The outcome of a finished turn. */
export type LastRun = z.infer<typeof lastRun>

/** The run-time state of an entry, which is not in its file. */
export type EntryState = z.infer<typeof entryState>

/** The contents of run/cron-state.json, which the scheduler writes for commands such as `cron list`. */
export type CronState = z.infer<typeof stateFile>

/** The state of a scheduler that has never run. */
export const EMPTY_CRON_STATE: CronState = { v: 1, highest: 0, entries: [], gone: [] }

/** The maximum length of `gone`. */
export const MAX_REMOVED_ENTRIES = 20

/** Returns the state of an entry that has never fired. */
export function newEntryState(id: number): EntryState {
  return { id, fired: 0, failed: 0, failing: 0, skipped: 0, missed: 0 }
}

/**
 * Reads the state file; returns the empty state when it does not exist or this version cannot read it. Throws
 * `storage`.
 */
export async function readCronState(path: string): Promise<CronState> {
  const text = await readTextFile(path)
  try {
    const read = z.safeParse(stateFile, JSON.parse(text ?? ''))
    return read.success ? read.data : EMPTY_CRON_STATE
  } catch {
    return EMPTY_CRON_STATE // nothing depends on it; only the counters start over
  }
}

/** Replaces the state file. Throws `storage`. */
export async function writeCronState(path: string, state: CronState): Promise<void> {
  await replaceFile(path, `${JSON.stringify(state)}\n`)
}

/** A turn of an entry that ended successfully. */
export interface FiredTurn {
  run: string
  session: string
}

/** Returns the record of a finished turn. Times are milliseconds since 1970. */
export function toLastRun(ended: {
  due: number
  now: number
  fired?: FiredTurn | undefined
  error?: CrabError | undefined
}): LastRun {
  const { due, now, fired, error } = ended
  return {
    ...{ due, ended: now, outcome: toOutcome(error) },
    ...fired,
    ...(error && { error: toRunFailure(error) }),
  }
}

/** Converts an error to its form in the state file. */
export function toRunFailure({ kind, message, hint }: CrabError) {
  return { kind, message, ...(hint !== undefined && { hint }) }
}

function toOutcome(error: CrabError | undefined): LastRun['outcome'] {
  if (!error) return 'ok'
  return error.kind === 'cancelled' ? 'cancelled' : 'failed'
}

/** The debounce time between a change and its write. */
const PAUSE_MS = 250

/**
 * Debounces writes of frequently changing state: one write at a time, and later changes go into the next one.
 */
export class StateWriter {
  readonly #write: () => Promise<void>
  readonly #onError: (error: CrabError) => void
  readonly #writes = new Serial()
  #timer: NodeJS.Timeout | undefined

  /** `write` writes the whole state; `onError` receives failures of writes that no caller awaits. */
  constructor(write: () => Promise<void>, onError: (error: CrabError) => void) {
    this.#write = write
    this.#onError = onError
  }

  /** Schedules a write after a change. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.flush().catch((reason: unknown) => this.#onError(toCrabError(reason)))
    }, PAUSE_MS)
  }

  /** Writes immediately, after any running write; durable when it resolves. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    return this.#writes.run(this.#write)
  }
}
