import type { Zone } from './zone.ts'

/** What clocks and calendars show somewhere; months and days count from 1. */
export interface WallTime {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
}

/** When a wall time is. */
export interface ClockInstant {
  /** Milliseconds since 1970. */
  at: number
  /** Where clocks are changed: there is no such time that day, or it comes twice. */
  oddity?: 'skipped' | 'twice'
}

/** What clocks show in a zone. */
export function toWallTime(zone: Zone, at: number): WallTime {
  const shown = new Date(at + zone.offsetMs(at))
  return {
    year: shown.getUTCFullYear(),
    month: shown.getUTCMonth() + 1,
    day: shown.getUTCDate(),
    hour: shown.getUTCHours(),
    minute: shown.getUTCMinutes(),
    second: shown.getUTCSeconds(),
  }
}

/**
 * When clocks show that in a zone. Of a time that comes twice the first is meant; one that is skipped is as much later as
 * the clocks are put forward.
 *
 * Throws for what no calendar has, and for years before 1000 and after 9999.
 */
export function toInstant(zone: Zone, wall: WallTime): ClockInstant {
  const shown = toShown(wall)
  const before = zone.offsetMs(shown - DAY_MS)
  const after = zone.offsetMs(shown + DAY_MS)
  const fitting = [...new Set([before, after])]
    .map((offset) => shown - offset)
    .filter((at) => at + zone.offsetMs(at) === shown)
    .toSorted((a, b) => a - b)
  const [first] = fitting
  if (first === undefined) return { at: shown - before, oddity: 'skipped' }
  return fitting.length > 1 ? { at: first, oddity: 'twice' } : { at: first }
}

/** A time that can be shown. Throws where it has no year, or one before 1000 or after 9999. */
export function requireSupportedTime(at: number): number {
  if (at >= FIRST && at < LAST) return at
  throw outOfRange('of that time')
}

/** Whether times of that year can be calculated. */
export function isSupportedTime(year: number): boolean {
  return year >= 1_000 && year <= 9_999
}

/** How many days a month has. */
export function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** As if it were UTC. */
function toShown({ year, month, day, hour, minute, second }: WallTime): number {
  if (!isSupportedTime(year)) throw outOfRange(String(year))
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
  if (!isDate) throw new Error(`There is no ${day}.${month}.${year} (day.month.year)`)
  if (hour > 23 || minute > 59 || second > 59)
    throw new Error(`There is no ${hour}:${minute}:${second} o'clock`)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

function outOfRange(year: string): Error {
  return new Error(`The year ${year} is out of reach: 1000 to 9999`)
}

const DAY_MS = 86_400_000
/** A day away from where a zone could lead to another year. */
const FIRST = Date.UTC(1_000, 0, 2)
const LAST = Date.UTC(9_999, 11, 31)
