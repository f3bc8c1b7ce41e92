import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toInstant, toWallTime, type WallTime } from '../../../components/clock/src/wall-time.ts'
import { parseZone } from '../../../components/clock/src/zone.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Asia/Kathmandu',
  'UTC',
].map(parseZone)

test('toInstant() finds the time that toWallTime() shows, or the earlier one of two', () => {
  const seconds = fc.integer({ min: Date.UTC(1950, 0) / 1_000, max: Date.UTC(2036, 0) / 1_000 })
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), seconds, (zone, second) => {
      const at = second * 1_000
      const moment = toInstant(zone, toWallTime(zone, at))
      assert.deepEqual(toWallTime(zone, moment.at), toWallTime(zone, at))
      assert.ok(moment.at === at || (moment.oddity === 'twice' && moment.at < at))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('toInstant() reports times that clocks skip or show twice', () => {
  const berlin = parseZone('Europe/Berlin')
  const skipped = toInstant(berlin, wall('2026-03-29T02:30:00'))
  assert.deepEqual(skipped, { at: Date.parse('2026-03-29T01:30:00Z'), oddity: 'skipped' })
  assert.equal(toWallTime(berlin, skipped.at).hour, 3)
  const twice = toInstant(berlin, wall('2026-10-25T02:30:00'))
  assert.deepEqual(twice, { at: Date.parse('2026-10-25T00:30:00Z'), oddity: 'twice' })
  const day = toInstant(parseZone('Pacific/Apia'), wall('2011-12-30T12:00:00')) // Samoa skipped this day
  assert.equal(day.oddity, 'skipped')
  assert.deepEqual(toInstant(berlin, wall('2026-03-29T03:00:00')), { at: Date.parse('2026-03-29T01:00:00Z') })
})

test('toInstant() rejects dates and times that do not exist', () => {
  for (const [text, problem] of [
    ['2026-02-29T00:00:00', /29\.2\.2026 .* is not a date/],
    ['2026-13-01T00:00:00', /1\.13\.2026 .* is not a date/],
    ['2026-01-01T24:00:00', /24:0:0 is not a time of day/],
    ['0999-01-01T00:00:00', /The year 999 is out of range/],
  ] as const) {
    assert.throws(() => toInstant(parseZone('UTC'), wall(text)), problem)
  }
})

function wall(text: string): WallTime {
  const [year, month, day, hour, minute, second] = text.split(/\D/).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  return { year, month, day, hour, minute, second }
}
