import { addToDate } from './calendar.ts'
import { type ClockInstant, requireSupportedTime, toInstant, toWallTime, type WallTime } from './wall-time.ts'
import { parseZone, type Zone } from './zone.ts'

/** A parsed time, and the zone it was interpreted in. */
export interface ZonedTime extends ClockInstant {
  zone: Zone
}

/**
 * Parses a time: `now`, `2026-11-22T15:00`, the same followed by `Z` or an offset, `2026-11-22` (its
 * midnight), `15:00` or `3pm` (today), `tomorrow 9:30`, `@1795327200` (Unix seconds). A time without an
 * offset is interpreted in `zone`.
 *
 * Throws an error that lists the accepted forms.
 */
export function readTime(text: string, { zone, now }: { zone: Zone; now: number }): ZonedTime {
  const input = text.trim()
  if (/^now$/i.test(input)) return { at: now, zone }
  const unix = /^@(-?\d{1,11})$/.exec(input)
  if (unix) return { at: requireSupportedTime(Number(unix[1]) * 1_000), zone }
  const { day, rest } = readDay(input)
  const clock = readClock(rest)
  if (!clock || (rest === '' && day === undefined)) throw invalidTime(text)
  const targetZone = clock.zone ?? zone
  const date = typeof day === 'object' ? day : addDays(toWallTime(targetZone, now), day ?? 0)
  return { ...toInstant(targetZone, { ...date, ...clock.time }), zone: targetZone }
}

type Day = Pick<WallTime, 'year' | 'month' | 'day'>

/** Reads the date at the start of a text, as a date or as days from today; undefined when there is none. */
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

/** Reads a time of day with an optional offset; an empty text is midnight. */
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
  if (hour < 1 || hour > 12) throw new Error(`${hour} ${half} is not a time of day`)
  return (hour % 12) + (/^p/i.test(half) ? 12 : 0)
}

function addDays(wall: WallTime, days: number): Day {
  const { year, month, day } = addToDate(wall, { years: 0, months: 0, days })
  return { year, month, day }
}

function invalidTime(text: string): Error {
  return new Error(
    `"${text}" is not a time: write now, 2026-11-22T15:00, 2026-11-22T15:00+01:00, 2026-11-22, 15:00, 3pm, tomorrow 9:30 or @1795327200 (Unix seconds)`,
  )
}

const RELATIVE: Readonly<Record<string, number>> = { today: 0, tomorrow: 1, yesterday: -1 }
const CLOCK =
  /^(?<hour>\d\d?)(?::(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,]\d+)?)?)?\s*(?<half>[ap]\.?m\.?)?\s*(?<offset>z|[+-]\d\d(?::?\d\d)?)?$/i
