import type { Zone } from './zone.ts'

/** The local date and time of a place; months and days count from 1. */
export interface WallTime {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
}

/** The instant of a wall time. */
export interface ClockInstant {
  /** Milliseconds since 1970. */
  at: number
  /** Set around a clock change: the wall time does not exist that day, or occurs twice. */
  oddity?: 'skipped' | 'twice'
}

/** Converts an instant to the wall time of a zone. */
export function toWallTime(zone: Zone, at: number): WallTime {
  const shifted = new Date(at + zone.offsetMs(at))
  return {
    year: shifted.getUTCFullYear(),
    month: shifted.getUTCMonth() + 1,
    day: shifted.getUTCDate(),
    hour: shifted.getUTCHours(),
    minute: shifted.getUTCMinutes(),
    second: shifted.getUTCSeconds(),
  }
}

/**
 * Converts a wall time of a zone to an instant. A time that occurs twice means the first; one that is skipped
 * moves by as much as the clocks do.
 *
 * Throws for a date or time that does not exist, and for years before 1000 and after 9999.
 */
export function toInstant(zone: Zone, wall: WallTime): ClockInstant {
  const asUtc = toMsAsUtc(wall)
  const before = zone.offsetMs(asUtc - DAY_MS)
  const after = zone.offsetMs(asUtc + DAY_MS)
  const fitting = [...new Set([before, after])]
    .map((offset) => asUtc - offset)
    .filter((at) => at + zone.offsetMs(at) === asUtc)
    .toSorted((a, b) => a - b)
  const [first] = fitting
  if (first === undefined) return { at: asUtc - before, oddity: 'skipped' }
  return fitting.length > 1 ? { at: first, oddity: 'twice' } : { at: first }
}

/** Returns a time that can be displayed. Throws for years before 1000 and after 9999. */
export function requireSupportedTime(at: number): number {
  if (at >= FIRST && at < LAST) return at
  throw outOfRange('of that time')
}

/** Whether times of that year can be calculated. */
export function isSupportedTime(year: number): boolean {
  return year >= 1_000 && year <= 9_999
}

/** Returns the number of days of a month. */
export function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** Converts a wall time to milliseconds as if it were UTC. Throws when it does not exist. */
function toMsAsUtc({ year, month, day, hour, minute, second }: WallTime): number {
  if (!isSupportedTime(year)) throw outOfRange(String(year))
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
  if (!isDate) throw new Error(`${day}.${month}.${year} (day.month.year) is not a date`)
  if (hour > 23 || minute > 59 || second > 59)
    throw new Error(`${hour}:${minute}:${second} is not a time of day`)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

function outOfRange(year: string): Error {
  return new Error(`The year ${year} is out of range: 1000 to 9999`)
}

const DAY_MS = 86_400_000
/** A day from the bounds, beyond which a zone's offset could lead to an unsupported year. */
const FIRST = Date.UTC(1_000, 0, 2)
const LAST = Date.UTC(9_999, 11, 31)
