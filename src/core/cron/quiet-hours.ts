import type { Schedule } from './schedule.ts'

/**
 * A daily period in which nothing fires, in minutes since midnight; `end` is exclusive and may be before
 * `start`.
 */
export interface QuietHours {
  start: number
  end: number
}

/** The times at which an entry fires. */
export interface Timing {
  schedule: Schedule
  quiet: QuietHours | undefined
}

/** Parses `HH:MM` as minutes since midnight; undefined for any other text. */
export function readTimeOfDay(text: string): number | undefined {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes)
}

/** Whether a moment, in milliseconds since 1970, is within the quiet hours in local time. */
export function isQuiet({ start, end }: QuietHours, at: number): boolean {
  const date = new Date(at)
  const minute = date.getHours() * 60 + date.getMinutes()
  return start <= end ? start <= minute && minute < end : minute >= start || minute < end
}

/** Returns the first scheduled time after `after` that is not quiet; undefined when none comes within years. */
export function nextFire({ schedule, quiet }: Timing, after: number): number | undefined {
  let at = schedule.next(after)
  for (let windows = 0; quiet && at !== undefined && isQuiet(quiet, at); windows++) {
    if (windows === MAX_WINDOWS) return undefined
    at = schedule.next(findQuietEnd(quiet, at) - 1)
  }
  return at
}

/**
 * The number of consecutive quiet periods that may cover every scheduled time before the entry counts as
 * never firing.
 */
const MAX_WINDOWS = 400
const MINUTE_MS = 60_000

/**
 * Finds the end of the quiet hours minute by minute, because the local clock may be set forward or back
 * meanwhile.
 */
function findQuietEnd(quiet: QuietHours, from: number): number {
  let at = from - (from % MINUTE_MS)
  while (isQuiet(quiet, at)) at += MINUTE_MS
  return at
}
