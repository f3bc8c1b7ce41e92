import { CrabError } from '../../core/base/errors.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import type { Cron } from '../../core/cron/cron-entry.ts'
import { type LoadedCrons, loadCrons, problemLines } from '../../core/cron/cron-file.ts'
import {
  type CronState,
  type EntryState,
  type LastRun,
  newEntryState,
  readCronState,
} from '../../core/cron/cron-state.ts'
import { findManualRun, readManualRuns } from '../../core/cron/manual-runs.ts'
import { nextFire } from '../../core/cron/quiet-hours.ts'
import { cronFiles } from '../../core/cron/ready-file.ts'
import { findSchedulerHolder } from '../../core/cron/scheduler-lease.ts'
import { unknownZone } from '../../core/cron/time-zone.ts'
import type { LeaseHolder } from '../../core/lease/sqlite-leases.ts'
import { timeLeft } from './time-left.ts'

/** An entry with its state. */
export interface CronEntryView {
  cron: Cron
  state: EntryState
  next: number | undefined
  /** The last manual run, if it ended after the last fire. */
  byHand: LastRun | undefined
}

/** The schedules of a home with their states. */
export interface CronView {
  loaded: LoadedCrons
  entries: readonly CronEntryView[]
  gone: CronState['gone']
  scheduler: LeaseHolder | undefined
  now: number
}

/**
 * Reads the schedules of a home and their states. Throws the error of a file that cannot be read, with the entries that
 * a running scheduler still fires.
 */
export async function readCronView(paths: HomePaths, now: number): Promise<CronView> {
  const files = cronFiles(paths)
  const [loaded, { entries, gone }, runs, scheduler] = await Promise.all([
    loadCrons(paths.crons),
    readCronState(files.state),
    readManualRuns(files.byHand),
    findSchedulerHolder(paths),
  ])
  if (loaded.broken) throw scheduler ? withRunningEntries(loaded.broken, entries) : loaded.broken
  const states = new Map(entries.map((state) => [state.id, state]))
  const known = loaded.crons.map((cron) => {
    const { running, ...state } = states.get(cron.entry.id) ?? newEntryState(cron.entry.id)
    const isRunning = scheduler && running !== undefined // otherwise the scheduler died in that turn
    const last = findManualRun(runs, cron.entry)
    const byHand = last && last.ended > (state.last?.ended ?? 0) ? last : undefined
    return {
      cron,
      state: isRunning ? { ...state, running } : state,
      next: nextFire(cron.timing, now),
      byHand,
    }
  })
  return { loaded, entries: known, gone, scheduler, now }
}

/** Adds the entries that a running scheduler still fires to the error of a file that cannot be read. */
function withRunningEntries(broken: CrabError, entries: CronState['entries']): CrabError {
  const ids = entries.flatMap(({ id, next }) => (next === undefined ? [] : [id]))
  if (ids.length === 0) return broken
  const still = `until the file is fixed, the scheduler fires the entries it read before: ${ids.join(', ')}`
  const hint = broken.hint === undefined ? still : `${broken.hint}; ${still}`
  return new CrabError(broken.kind, broken.message, { hint, cause: broken })
}

/** Returns the last run of an entry: the manual one, or the last fire. */
export function findLastRun({ state, byHand }: Pick<CronEntryView, 'state' | 'byHand'>): LastRun | undefined {
  return byHand ?? state.last
}

/** Formats how the last run ended, and other problems, for a table cell; by default with the reason of a failure. */
export function formatLastRun(
  { state, byHand }: Pick<CronEntryView, 'state' | 'byHand'>,
  now: number,
  { hasReason }: { hasReason: boolean } = { hasReason: true },
): string {
  const { running, failing, skipped, missed } = state
  const last = findLastRun({ state, byHand })
  const when = last && relativeTime(new Date(last.ended).toISOString(), now)
  const why = hasReason && last?.error ? `: ${last.error.message}` : ''
  const isRow = !byHand && last?.outcome === 'failed' && failing > 1
  const row = byHand ? ' by hand' : isRow ? ` (${failing} in a row)` : ''
  const ended = last ? [`${last.outcome} ${when}${row}${why}`] : []
  return [
    ...(running === undefined ? [] : ['running']),
    ...ended,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(missed > 0 ? [`${missed} missed`] : []),
  ].join(', ')
}

/** Formats when an entry fires next; `-` while no scheduler runs. */
export function formatNextFire({ next }: Pick<CronEntryView, 'next'>, { scheduler, now }: CronView): string {
  return !scheduler ? '-' : next === undefined ? 'never' : timeLeft(next, now)
}

/** Lists what the user should know besides the entries: invalid ones, failed ones that are gone, no scheduler. */
export function listCronNotes({ loaded, entries, gone, scheduler, now }: CronView, zone?: string): string[] {
  const invalidZone = unknownZone(zone)
  const failed = gone.flatMap(({ id, content, last }) => {
    if (last.outcome === 'ok') return []
    const when = relativeTime(new Date(last.ended).toISOString(), now)
    const notice = `entry ${id} (${content}) fired once and ${last.outcome} ${when}: ${last.error?.message ?? ''}`
    return [notice.replaceAll(/\s+/g, ' ')]
  })
  return [
    ...problemLines(loaded),
    ...(invalidZone === undefined ? [] : [`TZ is not a known time zone: ${invalidZone}; times are in UTC`]),
    ...failed,
    ...(entries.length > 0 && !scheduler ? [NO_SCHEDULER] : []),
  ]
}

/** Says that entries do not fire. */
export const NO_SCHEDULER = 'no scheduler is running, so nothing fires: start it with crabup cron start'
