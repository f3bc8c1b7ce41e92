import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseSchedule, type Schedule } from '../../../src/core/cron/schedule.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { type Field, type Fields, findChanges, readLocalClock, walk } from './local-clock.ts'

test('parseSchedule() accepts six fields, five, and names', () => {
  process.env['TZ'] = 'UTC'
  const after = Date.UTC(2026, 0, 1, 10, 0, 30, 250)
  const times: [string, string][] = [
    ['* * * * * *', '2026-01-01T10:00:31.000Z'],
    ['0 */2 * * * *', '2026-01-01T10:02:00.000Z'],
    ['*/5 * * * *', '2026-01-01T10:05:00.000Z'],
    ['  15  0 9 * * mon-fri ', '2026-01-02T09:00:15.000Z'],
    ['@hourly', '2026-01-01T11:00:00.000Z'],
    ['@daily', '2026-01-02T00:00:00.000Z'],
    ['0 0 0 29 2 *', '2028-02-29T00:00:00.000Z'],
    ['0 0 12 L * *', '2026-01-31T12:00:00.000Z'],
    ['0 0 12 * * FRI#2', '2026-01-09T12:00:00.000Z'],
    ['0 0 0 13 * FRI', '2026-01-02T00:00:00.000Z'],
    ['0 0 0 13 * +FRI', '2026-02-13T00:00:00.000Z'],
  ]
  for (const [text, next] of times)
    assert.equal(new Date(schedule(text).next(after)!).toISOString(), next, text)
})

test('parseSchedule() says what is wrong with an invalid schedule', () => {
  const texts: [string, RegExp][] = [
    ['', /six fields .* or five/],
    ['* * * *', /six fields/],
    ['* * * * * * *', /six fields/],
    ['2030-01-01T00:00:00', /six fields/],
    ['0 99 * * * *', /invalid value for minute: 99$/],
    ['0 0 25 * * *', /hour: 25$/],
    ['/5 * * * * *', /stepping with missing prefix/],
    ['0 */0 * * * *', /illegal stepping/],
    ['5-1 * * * * *', /larger/],
    ['every day at 9 please !', /illegal characters/],
    ['0 0 0 30 2 *', /^it matches no day$/],
    ['@reboot', /^"@reboot" is not one of @hourly, /],
    ['@sometimes', /^"@sometimes" is not one of /],
  ]
  for (const [text, why] of texts) {
    const read = parseSchedule(text)
    assert.ok(!read.ok, text)
    assert.match(read.why, why)
    assert.doesNotMatch(read.why, /CronPattern|\.$/)
  }
})

/** Zones and years with unusual clock changes: half an hour, at midnight, a missing day. */
const ZONES: readonly [zone: string, years: readonly number[]][] = [
  ['Europe/Berlin', [2026]],
  ['America/New_York', [2026]],
  ['Australia/Lord_Howe', [2026]],
  ['Asia/Beirut', [2025]],
  ['America/Sao_Paulo', [2018]],
  ['Africa/Casablanca', [2026]],
  ['America/St_Johns', [2010]],
  ['Pacific/Apia', [2011]],
]

for (const [zone, years] of ZONES) {
  test(`next() agrees with checking every second, around clock changes in ${zone}`, () => {
    process.env['TZ'] = zone
    const changes = years.flatMap(findChanges)
    assert.ok(changes.length > 0)
    for (const change of changes) {
      const clock = readLocalClock(change - WINDOW_MS / 2, WINDOW_MS / 1000)
      fc.assert(
        fc.property(fields(hoursAround(clock.shown)), (fields) => {
          const text = `${fields.second.text} ${fields.minute.text} ${fields.hour.text} * * ${fields.weekday.text}`
          const expected = walk(clock, fields).filter((at) => at > clock.start + HOUR_MS)
          assert.deepEqual(
            iso(between(schedule(text), clock.start + HOUR_MS, clock.start + WINDOW_MS)),
            iso(expected),
            text,
          )
        }),
        { numRuns: propertyRuns(250, 25) },
      )
    }
  })
}

test('next() advances from any start', () => {
  process.env['TZ'] = 'Europe/Berlin'
  const [spring = 0, autumn = 0] = findChanges(2026)
  const times = fc.tuple(fc.constantFrom(spring, autumn), fc.integer({ min: -HOUR_MS * 3, max: HOUR_MS * 3 }))
  fc.assert(
    fc.property(times, fields([0, 1, 2, 3]), ([change, away], { second, minute, hour }) => {
      const one = schedule(`${second.text} ${minute.text} ${hour.text} * * *`)
      const at = one.next(change + away)!
      assert.ok(at > change + away)
      assert.equal(at % 1000, 0)
      assert.ok(one.next(at)! > at)
      assert.equal(one.next(at - 1), at)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

const HOUR_MS = 3_600_000
const WINDOW_MS = 6 * HOUR_MS

function schedule(text: string): Schedule {
  const read = parseSchedule(text)
  assert.ok(read.ok, read.ok ? '' : `${text}: ${read.why}`)
  return read.schedule
}

function between(one: Schedule, after: number, end: number): number[] {
  const found: number[] = []
  for (let at = one.next(after); at !== undefined && at < end; at = one.next(at)) found.push(at)
  return found
}

/** Returns the hours that the local clock shows in a window, and those that it skips. */
function hoursAround(shown: Float64Array): number[] {
  const hours = new Set<number>()
  for (let at = shown[0]!; at <= shown.at(-1)!; at += 600) hours.add(Math.floor(at / 3600) % 24)
  for (const at of shown) hours.add(Math.floor(at / 3600) % 24)
  return [...hours]
}

/** Schedules that fire sometimes in these hours. */
function fields(hours: readonly number[]): fc.Arbitrary<Fields> {
  return fc.record({
    second: fc.oneof(list(60), stepped(60, [15, 20, 30]), fc.constant(only(0))),
    minute: fc.oneof(list(60), range(60), stepped(60, [1, 7, 15, 30]), fc.constant(only(0))),
    hour: fc.oneof(listField(hours), range(24), stepped(24, [1, 2, 5])),
    weekday: fc.oneof({ weight: 4, arbitrary: stepped(7, [1]) }, list(7)),
  })
}

function only(value: number): Field {
  return { text: String(value), values: new Set([value]) }
}

function list(size: number): fc.Arbitrary<Field> {
  return listField(Array.from({ length: size }, (_, value) => value))
}

function listField(values: readonly number[]): fc.Arbitrary<Field> {
  const some = fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 })
  return some.map((chosen) => ({ text: chosen.join(','), values: new Set(chosen) }))
}

function range(size: number): fc.Arbitrary<Field> {
  return fc.tuple(fc.nat(size - 1), fc.nat(size - 1)).map((ends) => {
    const [from, to] = [Math.min(...ends), Math.max(...ends)]
    const values = new Set(Array.from({ length: to - from + 1 }, (_, index) => from + index))
    return { text: `${from}-${to}`, values }
  })
}

function stepped(size: number, steps: readonly number[]): fc.Arbitrary<Field> {
  return fc.constantFrom(...steps).map((step) => {
    const values = Array.from({ length: size }, (_, value) => value).filter((value) => value % step === 0)
    return { text: step === 1 ? '*' : `*/${step}`, values: new Set(values) }
  })
}

function iso(times: readonly number[]): string[] {
  return times.map((at) => new Date(at).toISOString())
}
