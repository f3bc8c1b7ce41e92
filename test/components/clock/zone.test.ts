import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseZone, showOffset } from '../../../components/clock/src/zone.ts'

const SUMMER = Date.UTC(2026, 6, 1)
const WINTER = Date.UTC(2026, 0, 1)

test('parseZone() finds a zone by its name in any case, by its city, and by an offset', () => {
  const names = [
    'europe/berlin',
    'Berlin',
    'new york',
    ' kolkata ',
    'ho chi minh',
    'ushuaia',
    'utc',
    'gmt+1',
    '-0330',
  ]
  assert.deepEqual(
    names.map((name) => parseZone(name).name),
    [
      'Europe/Berlin',
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kolkata',
      'Asia/Ho_Chi_Minh',
      'America/Argentina/Ushuaia',
      'UTC',
      'UTC+01:00',
      'UTC-03:30',
    ],
  )
})

test('a zone has an offset and an abbreviation, which change with the clocks', () => {
  const berlin = parseZone('Europe/Berlin')
  assert.deepEqual(
    [WINTER, SUMMER].map((at) => showOffset(berlin.offsetMs(at))),
    ['+01:00', '+02:00'],
  )
  const newYork = parseZone('America/New_York')
  assert.deepEqual(
    [WINTER, SUMMER].map((at) => newYork.abbreviation(at)),
    ['EST', 'EDT'],
  )
  assert.equal(showOffset(parseZone('Asia/Kathmandu').offsetMs(WINTER)), '+05:45')
  assert.equal(showOffset(parseZone('St Johns').offsetMs(WINTER)), '-03:30')
})

test('parseZone() suggests similar zones for an unknown one, otherwise the format', () => {
  assert.throws(() => parseZone('indiana'), /"indiana" is not a time zone: did you mean America\/Indiana/)
  assert.throws(() => parseZone('qqq'), /give a name like Europe\/Berlin/)
  assert.throws(() => parseZone(''), /give a name like/)
  assert.throws(() => parseZone('+19:00'), /No clock is \+19 hours off UTC/)
})
