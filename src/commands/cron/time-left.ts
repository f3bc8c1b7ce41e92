import { toLocalClock, toLocalDay } from '../../core/base/format.ts'

/** Formats the time until `then` as `in 5m`, or as `now` for less than a second. */
export function timeLeft(then: number, now: number): string {
  const seconds = Math.ceil((then - now) / 1000)
  if (seconds < 1) return 'now'
  const [name, size] = UNITS.find(([, size]) => seconds >= size)!
  return `in ${Math.floor(seconds / size)}${name}`
}

/** Formats a time in the local time zone: `Mon 2026-11-23 09:00:00`. */
export function localTime(at: number): string {
  const date = new Date(at)
  return `${WEEKDAYS[date.getDay()]} ${toLocalDay(date)} ${toLocalClock(date)}`
}

const UNITS: readonly [string, number][] = [
  ['y', 365 * 86_400],
  ['mo', 30 * 86_400],
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
]
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
