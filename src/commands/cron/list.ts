import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { CrabError, ERROR_KINDS } from '../../core/base/errors.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { sanitize } from '../../core/base/sanitize.ts'
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
import { describeSchedule } from '../../core/cron/describe-schedule.ts'
import { findManualRun, readManualRuns } from '../../core/cron/manual-runs.ts'
import { nextFire } from '../../core/cron/quiet-hours.ts'
import { cronFiles } from '../../core/cron/ready-file.ts'
import { findSchedulerHolder } from '../../core/cron/scheduler-lease.ts'
import { unknownZone } from '../../core/cron/time-zone.ts'
import type { LeaseHolder } from '../../core/lease/sqlite-leases.ts'
import { formatContentCell } from './entries.ts'
import { timeLeft } from './time-left.ts'

/** Runs `crabtalk cron list`; exits with the code of `config` when an entry is invalid. */
export const listCronEntriesCommand: CommandHandler = async ({ options, host }) => {
  const view = await readView(resolvePaths(host), Date.now())
  const code = view.loaded.problems.length > 0 ? ERROR_KINDS.config.exit : 0
  if (options.has('json')) {
    printJson(host, toJson(view))
    return code
  }
  if (view.entries.length > 0) {
    await printTable(
      host,
      ['ID', 'SCHEDULE', 'MESSAGE', 'AGENT', 'NEXT', 'LAST'],
      view.entries.map(toRow(view)),
    )
  }
  await printNotes(host, view)
  return code
}

/** An entry with its state. */
interface EntryView {
  cron: Cron
  state: EntryState
  next: number | undefined
  /** The last manual run, if it ended after the last fire. */
  byHand: LastRun | undefined
}

interface CronView {
  loaded: LoadedCrons
  entries: readonly EntryView[]
  gone: CronState['gone']
  scheduler: LeaseHolder | undefined
  now: number
}

async function readView(paths: HomePaths, now: number): Promise<CronView> {
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

function toRow({ scheduler, now }: CronView): (known: EntryView) => string[] {
  return ({ cron: { entry, timing }, state, next, byHand }) => [
    String(entry.id),
    describeSchedule(timing.schedule.text),
    formatContentCell(entry),
    entry.agent,
    !scheduler ? '-' : next === undefined ? 'never' : timeLeft(next, now),
    formatLast(state, byHand, now),
  ]
}

/** Formats how the last fire ended, and other problems, for a table cell. */
function formatLast(state: EntryState, byHand: LastRun | undefined, now: number): string {
  const { running, failing, skipped, missed } = state
  const last = byHand ?? state.last
  const when = last && relativeTime(new Date(last.ended).toISOString(), now)
  const why = last?.error ? `: ${last.error.message}` : ''
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

async function printNotes(host: Host, { loaded, entries, gone, scheduler, now }: CronView): Promise<void> {
  await host.stdout.flush() // keeps all problems together below the table
  for (const line of problemLines(loaded)) host.stderr.write(sanitize(`crabtalk: ${line}\n`))
  const zone = unknownZone(host.env['TZ'])
  if (zone !== undefined)
    host.stderr.write(sanitize(`crabtalk: TZ is not a known time zone: ${zone}; times are in UTC\n`))
  for (const { id, content, last } of gone) {
    if (last.outcome === 'ok') continue
    const when = relativeTime(new Date(last.ended).toISOString(), now)
    const notice = `entry ${id} (${content}) fired once and ${last.outcome} ${when}: ${last.error?.message ?? ''}`
    host.stderr.write(sanitize(`crabtalk: ${notice.replaceAll(/\s+/g, ' ')}\n`))
  }
  if (entries.length === 0 && loaded.problems.length === 0) host.stderr.write(NONE)
  if (entries.length > 0 && !scheduler) host.stderr.write(NO_SCHEDULER)
}

function toJson({ loaded, entries, gone, scheduler, now }: CronView) {
  const time = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString())
  const toLast = (last: EntryState['last']) =>
    last && { ...last, due: time(last.due), ended: time(last.ended), error: last.error ?? null }
  return {
    scheduler: scheduler ? { pid: scheduler.pid ?? null, since: scheduler.startedAt } : null,
    entries: entries.map(({ cron: { entry }, state, next, byHand }) => ({
      ...entry,
      next: time(next),
      ...(next !== undefined && { in_seconds: Math.round((next - now) / 1000) }),
      running_since: time(state.running),
      last: toLast(state.last) ?? null,
      by_hand: toLast(byHand) ?? null,
      fired: state.fired,
      failed: state.failed,
      failing: state.failing,
      skipped: state.skipped,
      missed: state.missed,
    })),
    problems: loaded.problems.map(({ file, line, key, message, hint }) => ({
      ...{ file, line, key, message, hint: hint ?? null },
    })),
    ended: gone.map(({ last, ...one }) => ({ ...one, last: toLast(last) })),
  }
}

const NONE = 'No schedules yet; add one with crabtalk cron add SCHEDULE /SKILL\n'
const NO_SCHEDULER = 'crabtalk: no scheduler is running, so nothing fires: start it with crabup cron start\n'
