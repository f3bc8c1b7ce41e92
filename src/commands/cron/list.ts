import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { ERROR_KINDS } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { EntryState } from '../../core/cron/cron-state.ts'
import { describeSchedule } from '../../core/cron/describe-schedule.ts'
import { formatContentCell } from './entries.ts'
import {
  type CronEntryView,
  type CronView,
  formatLastRun,
  formatNextFire,
  listCronNotes,
  readCronView,
} from './view.ts'

/** Runs `crabtalk cron list`; exits with the code of `config` when an entry is invalid. */
export const listCronEntriesCommand: CommandHandler = async ({ options, host }) => {
  const view = await readCronView(resolvePaths(host), Date.now())
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

function toRow(view: CronView): (known: CronEntryView) => string[] {
  return (known) => [
    String(known.cron.entry.id),
    describeSchedule(known.cron.timing.schedule.text),
    formatContentCell(known.cron.entry),
    known.cron.entry.agent,
    formatNextFire(known, view),
    formatLastRun(known, view.now),
  ]
}

async function printNotes(host: Host, view: CronView): Promise<void> {
  await host.stdout.flush() // keeps all problems together below the table
  const lines = listCronNotes(view, host.env['TZ'])
  for (const line of lines) host.stderr.write(sanitize(`crabtalk: ${line}\n`))
  if (view.entries.length === 0 && view.loaded.problems.length === 0) host.stderr.write(NONE)
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
