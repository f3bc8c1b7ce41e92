import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isQuiet, nextFire, type QuietHours, readTimeOfDay } from '../../../src/core/cron/quiet-hours.ts'
import { parseSchedule, type Schedule } from '../../../src/core/cron/schedule.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { findChanges } from './local-clock.ts'

const NIGHT = { start: 23 * 60, end: 7 * 60 }

test('readTimeOfDay() accepts only HH:MM', () => {
  assert.deepEqual(['00:00', '23:59', '07:05'].map(readTimeOfDay), [0, 1439, 425])
  for (const text of ['24:00', '7:05', '07:60', '0705', '07:05:00', '', ' 07:05'])
    assert.equal(readTimeOfDay(text), undefined, text)
})

test('isQuiet() includes the first minute and excludes the last one, also over midnight', () => {
  process.env['TZ'] = 'UTC'
  const quiet = (hours: QuietHours, time: string) => isQuiet(hours, Date.parse(`2026-01-01T${time}Z`))
  const times = ['22:59:59', '23:00:00', '00:00:00', '06:59:59', '07:00:00', '12:00:00']
  assert.deepEqual(
    times.map((time) => quiet(NIGHT, time)),
    [false, true, true, true, false, false],
  )
  const noon = { start: 12 * 60, end: 13 * 60 }
  assert.deepEqual(
    ['11:59:59', '12:00:00', '12:59:59', '13:00:00'].map((time) => quiet(noon, time)),
    [false, true, true, false],
  )
})

test('nextFire() skips quiet hours, and knows when no time is left', () => {
  process.env['TZ'] = 'UTC'
  const next = (text: string, quiet: QuietHours | undefined, after: string) => {
    const at = nextFire({ schedule: schedule(text), quiet }, Date.parse(after))
    return at === undefined ? undefined : new Date(at).toISOString()
  }
  assert.equal(next('* * * * * *', NIGHT, '2026-01-01T22:59:59Z'), '2026-01-02T07:00:00.000Z')
  assert.equal(next('0 30 * * * *', NIGHT, '2026-01-01T22:30:00Z'), '2026-01-02T07:30:00.000Z')
  assert.equal(next('0 30 * * * *', undefined, '2026-01-01T22:30:00Z'), '2026-01-01T23:30:00.000Z')
  assert.equal(next('0 0 3 * * *', NIGHT, '2026-01-01T00:00:00Z'), undefined)
  assert.equal(next('0 0 3,8 * * *', NIGHT, '2026-01-01T00:00:00Z'), '2026-01-01T08:00:00.000Z')
})

for (const zone of ['Europe/Berlin', 'Australia/Lord_Howe', 'America/New_York']) {
  test(`nextFire() returns the first scheduled time that is not quiet, around clock changes in ${zone}`, () => {
    process.env['TZ'] = zone
    const times = fc.tuple(
      fc.constantFrom(...findChanges(2026)),
      fc.integer({ min: -6 * HOUR_MS, max: 2 * HOUR_MS }),
    )
    const minutes = fc.integer({ min: 0, max: 287 }).map((step) => step * 5)
    const hours = fc.record({ start: minutes, end: minutes }).filter(({ start, end }) => start !== end)
    const schedules = fc.constantFrom('0 */5 * * * *', '30 7,37 * * * *', '0 0 */2 * * *', '0 15 1-3 * * *')
    fc.assert(
      fc.property(times, hours, schedules, ([change, away], quiet, text) => {
        const one = schedule(text)
        let expected = one.next(change + away)!
        for (let tries = 0; isQuiet(quiet, expected) && tries < 3000; tries++) expected = one.next(expected)!
        const found = nextFire({ schedule: one, quiet }, change + away)
        assert.equal(found, isQuiet(quiet, expected) ? undefined : expected)
      }),
      { numRuns: propertyRuns(600, 60) },
    )
  })
}

const HOUR_MS = 3_600_000

function schedule(text: string): Schedule {
  const read = parseSchedule(text)
  assert.ok(read.ok)
  return read.schedule
}
