import { daysInMonth, isSupportedTime, toInstant, toWallTime, type WallTime } from './wall-time.ts'
import type { Zone } from './zone.ts'

/** A span of time in calendar units; may be negative. */
export interface CalendarSpan {
  years: number
  months: number
  days: number
}

/** Adds a span to a date, keeping the time of day. A day that the month does not have becomes its last. */
export function addToDate(wall: WallTime, { years, months, days }: CalendarSpan): WallTime {
  const count = wall.year * 12 + (wall.month - 1) + years * 12 + months
  const year = Math.floor(count / 12)
  if (!isSupportedTime(year)) return { ...wall, year } // out of range: rejected by toInstant()
  const month = count - year * 12 + 1
  const day = Math.min(wall.day, daysInMonth(year, month))
  const moved = new Date(Date.UTC(year, month - 1, day + days))
  return {
    ...wall,
    year: moved.getUTCFullYear(),
    month: moved.getUTCMonth() + 1,
    day: moved.getUTCDate(),
  }
}

/**
 * Computes the whole years, months and days from one time to a later one by the calendar of a zone, and the
 * remaining milliseconds.
 */
export function spanBetween(from: number, to: number, zone: Zone): CalendarSpan & { restMs: number } {
  const start = toWallTime(zone, from)
  const at = (span: CalendarSpan) => {
    const wall = addToDate(start, span)
    return isSupportedTime(wall.year) ? toInstant(zone, wall).at : Number.POSITIVE_INFINITY
  }
  const most = (fits: (count: number) => boolean, guess: number) => {
    let count = guess
    while (count > 0 && !fits(count)) count -= 1
    return count
  }
  const end = toWallTime(zone, to)
  const allMonths = (end.year - start.year) * 12 + end.month - start.month
  const month = most((months) => at({ years: 0, months, days: 0 }) <= to, allMonths)
  const rest = to - at({ years: 0, months: month, days: 0 })
  const days = most(
    (count) => at({ years: 0, months: month, days: count }) <= to,
    Math.ceil(rest / DAY_MS) + 1,
  )
  const restMs = to - Math.max(from, at({ years: 0, months: month, days }))
  return { years: Math.floor(month / 12), months: month % 12, days, restMs }
}

/** Returns the day of the week, Monday being 1, and the ISO 8601 week. */
export function toIsoWeek({ year, month, day }: WallTime): { weekday: number; week: number } {
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay() || 7
  const thursday = new Date(Date.UTC(year, month - 1, day - weekday + 4))
  const first = Date.UTC(thursday.getUTCFullYear(), 0, 1)
  return { weekday, week: Math.floor((thursday.getTime() - first) / DAY_MS / 7) + 1 }
}

/** Counts the days from Monday to Friday between one date and a later one, excluding the latter. */
export function workingDaysBetween(from: WallTime, to: WallTime): number {
  const number = ({ year, month, day }: WallTime) => Date.UTC(year, month - 1, day) / DAY_MS
  const days = number(to) - number(from)
  const { weekday } = toIsoWeek(from)
  let count = Math.floor(days / 7) * 5
  for (let more = 0; more < days % 7; more += 1) if (((weekday - 1 + more) % 7) + 1 <= 5) count += 1
  return count
}

const DAY_MS = 86_400_000
