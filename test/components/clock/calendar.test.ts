import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  addToDate,
  spanBetween,
  toIsoWeek,
  workingDaysBetween,
} from '../../../components/clock/src/calendar.ts'
import { toInstant, toWallTime } from '../../../components/clock/src/wall-time.ts'
import { parseZone } from '../../../components/clock/src/zone.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const UTC = parseZone('UTC')
const BERLIN = parseZone('Europe/Berlin')
const day = (text: string) => toWallTime(UTC, Date.parse(text))
const show = (wall: ReturnType<typeof day>) => new Date(toInstant(UTC, wall).at).toISOString().slice(0, 10)
const SECONDS = fc.integer({ min: Date.UTC(1990, 0) / 1_000, max: Date.UTC(2030, 0) / 1_000 })

test('addToDate() takes the last day of a month that is too short, and crosses years in both directions', () => {
  for (const [from, span, wanted] of [
    ['2026-01-31', { months: 1 }, '2026-02-28'],
    ['2024-02-29', { years: 1 }, '2025-02-28'],
    ['2026-01-15', { months: -1, days: -15 }, '2025-11-30'],
    ['2026-12-31', { days: 1 }, '2027-01-01'],
    ['2026-03-31', { months: 11 }, '2027-02-28'],
  ] as const) {
    assert.equal(show(addToDate(day(from), { years: 0, months: 0, days: 0, ...span })), wanted)
  }
})

test('spanBetween() leads from one time to the other, with less than a day left', () => {
  fc.assert(
    fc.property(SECONDS, SECONDS, (a, b) => {
      const [from, to] = [Math.min(a, b) * 1_000, Math.max(a, b) * 1_000] as const
      const { years, months, days, restMs } = spanBetween(from, to, BERLIN)
      const reached = toInstant(BERLIN, addToDate(toWallTime(BERLIN, from), { years, months, days })).at
      assert.equal(Math.max(from, reached) + restMs, to)
      assert.ok(restMs >= 0 && restMs <= 25 * 3_600_000 && months < 12 && days < 31)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('toIsoWeek() counts weeks as ISO 8601 does', () => {
  for (const [date, wanted] of [
    ['2026-11-22', { weekday: 7, week: 47 }],
    ['2021-01-03', { weekday: 7, week: 53 }],
    ['2024-12-30', { weekday: 1, week: 1 }],
    ['2027-01-01', { weekday: 5, week: 53 }],
  ] as const) {
    assert.deepEqual(toIsoWeek(day(date)), wanted)
  }
})

test('workingDaysBetween() counts like a loop over every day', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 60 }), (start, count) => {
      const at = (number: number) => toWallTime(UTC, number * 86_400_000)
      const days = Array.from({ length: count }, (_, more) =>
        new Date((start + more) * 86_400_000).getUTCDay(),
      )
      assert.equal(
        workingDaysBetween(at(start), at(start + count)),
        days.filter((one) => one > 0 && one < 6).length,
      )
    }),
    { numRuns: propertyRuns(1_000) },
  )
})
