import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { computeNextFires, cronContent } from '../../core/cron/cron-entry.ts'
import { describeSchedule } from '../../core/cron/describe-schedule.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import type { ScheduledEntry, SchedulesPort } from '../../tui/ports.ts'
import { findCron, openCronFile } from '../cron/entries.ts'
import { fireEntryThrough, newEntryRecord } from '../cron/fire-entry.ts'
import { openHomeLeases } from '../cron/home-leases.ts'
import { recordRun } from '../cron/record-run.ts'
import { localTime, timeLeft } from '../cron/time-left.ts'
import {
  type CronEntryView,
  type CronView,
  findLastRun,
  formatLastRun,
  formatNextFire,
  listCronNotes,
  readCronView,
} from '../cron/view.ts'

/** Opens the schedules of the home for a chat, whose connection runs their turns. */
export function openSchedules(host: Host, dispatch: Dispatch): SchedulesPort {
  const paths = resolvePaths(host)
  return {
    async list() {
      const view = await readCronView(paths, Date.now())
      const entries = view.entries.map((entry) => describeEntry(entry, view))
      return { entries, notes: listCronNotes(view, host.env['TZ']) }
    },
    async run(id, signal) {
      const { entry } = await findCron(paths, String(id))
      const record = newEntryRecord(entry)
      const due = Date.now()
      const turn = fireEntryThrough(dispatch, { entry, record }, signal)
      const error = await turn.then(() => undefined, toCrabError)
      await recordRun(host, { entry, record, due, error }).catch(() => undefined) // its conversation has the answer
      if (error) throw error
      return { answer: record.lastText, session: record.session }
    },
    async remove(id, signal) {
      await using leases = await openHomeLeases(host)
      if (await openCronFile(paths, leases).remove(id, signal)) return
      throw new CrabError('missing', `Cannot remove the entry ${id}: it does not exist`, {
        hint: '/cron lists the entries',
      })
    },
  }
}

function describeEntry(known: CronEntryView, view: CronView): ScheduledEntry {
  const { entry, timing } = known.cron
  const { now } = view
  const last = findLastRun(known)
  const times = computeNextFires([known.cron], now, SHOWN_TIMES)
  return {
    id: entry.id,
    message: cronContent(entry),
    schedule: describeSchedule(timing.schedule.text),
    address: `${entry.agent}/${entry.sender}`,
    next: formatNextFire(known, view),
    times: times.map(({ at }) => `${localTime(at)}  ${timeLeft(at, now)}`),
    last: formatLastRun(known, now, { hasReason: false }),
    failure: last?.error?.message ?? '',
    session: last?.session,
  }
}

/** The number of next times that a chat shows. */
const SHOWN_TIMES = 3
