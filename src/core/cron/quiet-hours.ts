import type { Schedule } from './schedule.ts'

/** A time of every day in which nothing fires, in minutes since midnight; `end` is outside, and may lie before `start`. */
export interface QuietHours {
  start: number
  end: number
}

/** When an entry fires. */
export interface Timing {
  schedule: Schedule
  quiet: QuietHours | undefined
}

/** Minutes since midnight of `HH:MM`; undefined for any other text. */
export function readTimeOfDay(text: string): number | undefined {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes)
}

/** Whether local clocks show a quiet time at that moment, milliseconds since 1970. */
export function isQuiet({ start, end }: QuietHours, at: number): boolean {
  const date = new Date(at)
  const minute = date.getHours() * 60 + date.getMinutes()
  return start <= end ? start <= minute && minute < end : minute >= start || minute < end
}

/** The first time after this one that is on the schedule and not quiet; undefined when none comes within years. */
export function nextFire({ schedule, quiet }: Timing, after: number): number | undefined {
  let at = schedule.next(after)
  for (let windows = 0; quiet && at !== undefined && isQuiet(quiet, at); windows++) {
    if (windows === MOST_WINDOWS) return undefined
    at = schedule.next(findQuietEnd(quiet, at) - 1)
  }
  return at
}

/** How many quiet times in a row may hold all that is on a schedule, before it counts as one that never fires. */
const MOST_WINDOWS = 400
const MINUTE_MS = 60_000

/** The first moment that is not quiet any more, minute by minute: clocks may be set forward or back in between. */
function findQuietEnd(quiet: QuietHours, from: number): number {
  let at = from - (from % MINUTE_MS)
  while (isQuiet(quiet, at)) at += MINUTE_MS
  return at
}
