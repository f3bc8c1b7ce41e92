import { addToDate } from './calendar.ts'
import { type ClockInstant, requireSupportedTime, toInstant, toWallTime, type WallTime } from './wall-time.ts'
import { parseZone, type Zone } from './zone.ts'

/** A time that somebody wrote, and the zone it was meant in. */
export interface ZonedTime extends ClockInstant {
  zone: Zone
}

/**
 * Reads a time: `now`, `2026-11-22T15:00`, that with `Z` or an offset behind it, `2026-11-22` (its midnight), `15:00` or
 * `3pm` (today), `tomorrow 9:30`, `@1795327200` (Unix seconds). What has no offset is meant in that zone.
 *
 * Throws an error that says what can be written.
 */
export function readTime(text: string, { zone, now }: { zone: Zone; now: number }): ZonedTime {
  const written = text.trim()
  if (/^now$/i.test(written)) return { at: now, zone }
  const unix = /^@(-?\d{1,11})$/.exec(written)
  if (unix) return { at: requireSupportedTime(Number(unix[1]) * 1_000), zone }
  const { day, rest } = readDay(written)
  const clock = readClock(rest)
  if (!clock || (rest === '' && day === undefined)) throw invalidTime(text)
  const meant = clock.zone ?? zone
  const date = typeof day === 'object' ? day : addDays(toWallTime(meant, now), day ?? 0)
  return { ...toInstant(meant, { ...date, ...clock.time }), zone: meant }
}

type Day = Pick<WallTime, 'year' | 'month' | 'day'>

/** The date at the beginning of a text, or how many days after today it is; undefined where none is written. */
function readDay(text: string): { day?: Day | number; rest: string } {
  const date = /^(\d{4})-(\d\d?)-(\d\d?)(?:$|[Tt\s]\s*)/.exec(text)
  if (date) {
    const [year, month, day] = date.slice(1).map(Number) as [number, number, number]
    return { day: { year, month, day }, rest: text.slice(date[0].length) }
  }
  const word = /^(today|tomorrow|yesterday)(?:$|,?\s+(?:at\s+)?)/i.exec(text)
  if (!word) return { rest: text }
  return { day: RELATIVE[word[1]!.toLowerCase()]!, rest: text.slice(word[0].length) }
}

/** A time of day, and where that is if it says so; nothing is midnight. */
function readClock(text: string): { time: Omit<WallTime, keyof Day>; zone?: Zone } | undefined {
  if (text === '') return { time: { hour: 0, minute: 0, second: 0 } }
  const found = CLOCK.exec(text)
  if (!found) return undefined
  const { hour, minute, second = '0', half, offset } = found.groups!
  if (minute === undefined && half === undefined) return undefined
  const time = { hour: toHour(Number(hour), half), minute: Number(minute ?? 0), second: Number(second) }
  return offset === undefined ? { time } : { time, zone: parseZone(/^z$/i.test(offset) ? 'UTC' : offset) }
}

function toHour(hour: number, half: string | undefined): number {
  if (half === undefined) return hour
  if (hour < 1 || hour > 12) throw new Error(`There is no ${hour} ${half}`)
  return (hour % 12) + (/^p/i.test(half) ? 12 : 0)
}

function addDays(wall: WallTime, days: number): Day {
  const { year, month, day } = addToDate(wall, { years: 0, months: 0, days })
  return { year, month, day }
}

function invalidTime(text: string): Error {
  return new Error(
    `"${text}" is no time: write now, 2026-11-22T15:00, 2026-11-22T15:00+01:00, 2026-11-22, 15:00, 3pm, tomorrow 9:30 or @1795327200 (Unix seconds)`,
  )
}

const RELATIVE: Readonly<Record<string, number>> = { today: 0, tomorrow: 1, yesterday: -1 }
const CLOCK =
  /^(?<hour>\d\d?)(?::(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,]\d+)?)?)?\s*(?<half>[ap]\.?m\.?)?\s*(?<offset>z|[+-]\d\d(?::?\d\d)?)?$/i
