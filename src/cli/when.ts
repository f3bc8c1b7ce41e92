import { CrabError } from '../core/base/errors.ts'

/**
 * The end of a time span that an option sets: a date means its beginning for `since`, and the beginning of
 * the next day for `until`.
 */
export type SpanEnd = 'since' | 'until'

/**
 * Parses a point in time and returns it as ISO 8601: a date or time (in the local time zone unless it names
 * one), `today`, `yesterday`, or a time ago: `30s`, `12h`, `7d`, `2w`, `6mo`, `1y`. Throws `usage`.
 */
export function parseWhen(option: SpanEnd, text: string, now: Date): string {
  const found = parseAgo(text, now) ?? parseDay(option, text, now) ?? parseTimestamp(text)
  if (found && !Number.isNaN(found.getTime())) return found.toISOString()
  throw new CrabError('usage', `Cannot use --${option} ${text}: it is neither a date nor an age`, {
    hint: `for example --${option} 2026-03-01, or --${option} 7d`,
  })
}

/** Subtracts months and years by the calendar: one year ago is the same date. */
function parseAgo(text: string, now: Date): Date | undefined {
  const [, amount = '', unit = ''] = /^(\d{1,5}) ?([a-z]+)(?: ago)?$/i.exec(text.trim()) ?? []
  const move = MOVES[unit.toLowerCase().replace(/(?<=..)s$/, '')]
  if (!move) return undefined
  const then = new Date(now)
  move(then, Number(amount))
  return then
}

const MOVES: Readonly<Record<string, (then: Date, by: number) => void>> = {
  ...byTime(1000, ['s', 'sec', 'second']),
  ...byTime(60_000, ['m', 'min', 'minute']),
  ...byTime(3_600_000, ['h', 'hour']),
  ...byDays(1, ['d', 'day']),
  ...byDays(7, ['w', 'week']),
  ...byMonths(1, ['mo', 'month']),
  ...byMonths(12, ['y', 'year']),
}

function byTime(size: number, names: readonly string[]) {
  return forNames(names, (then, by) => then.setTime(then.getTime() - by * size))
}

function byDays(size: number, names: readonly string[]) {
  return forNames(names, (then, by) => then.setDate(then.getDate() - by * size))
}

/** Uses the last day of a month that is too short for the date. */
function byMonths(size: number, names: readonly string[]) {
  return forNames(names, (then, by) => {
    const date = then.getDate()
    then.setMonth(then.getMonth() - by * size)
    if (then.getDate() !== date) then.setDate(0)
  })
}

function forNames(names: readonly string[], move: (then: Date, by: number) => unknown) {
  return Object.fromEntries(names.map((name) => [name, (then: Date, by: number) => void move(then, by)]))
}

function parseDay(option: SpanEnd, text: string, now: Date): Date | undefined {
  const offset = { today: 0, yesterday: -1 }[text]
  if (offset !== undefined)
    return toSpanBoundary(option, now.getFullYear(), now.getMonth(), now.getDate() + offset)
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []
  if (date === undefined) return undefined
  const found = toSpanBoundary('since', Number(year), Number(month) - 1, Number(date))
  if (found.getMonth() !== Number(month) - 1) return undefined // there is no such day
  return toSpanBoundary(option, Number(year), Number(month) - 1, Number(date))
}

function toSpanBoundary(option: SpanEnd, year: number, month: number, date: number): Date {
  return new Date(year, month, date + (option === 'until' ? 1 : 0))
}

function parseTimestamp(text: string): Date | undefined {
  return /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/.test(text)
    ? new Date(text.replace(' ', 'T'))
    : undefined
}
