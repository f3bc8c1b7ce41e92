import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTime } from '../../../components/clock/src/read-time.ts'
import { parseZone } from '../../../components/clock/src/zone.ts'

const BERLIN = parseZone('Europe/Berlin')
const NOW = Date.parse('2026-11-22T23:30:00Z') // the 23rd in Berlin

test('readTime() reads the usual formats of people and programs', () => {
  for (const [text, wanted] of [
    ['now', '2026-11-22T23:30:00Z'],
    ['2026-07-01T15:00', '2026-07-01T13:00:00Z'],
    ['2026-7-1 15:00:59.5', '2026-07-01T13:00:59Z'],
    ['2026-07-01T15:00Z', '2026-07-01T15:00:00Z'],
    ['2026-07-01T15:00:00-05:00', '2026-07-01T20:00:00Z'],
    ['2026-07-01T15:00+0530', '2026-07-01T09:30:00Z'],
    ['2026-07-01', '2026-06-30T22:00:00Z'],
    ['15:00', '2026-11-23T14:00:00Z'],
    ['15:00Z', '2026-11-22T15:00:00Z'],
    ['3pm', '2026-11-23T14:00:00Z'],
    ['12:05 a.m.', '2026-11-22T23:05:00Z'],
    ['12 PM', '2026-11-23T11:00:00Z'],
    ['tomorrow 9:30', '2026-11-24T08:30:00Z'],
    ['yesterday at 9:30', '2026-11-22T08:30:00Z'],
    ['Today', '2026-11-22T23:00:00Z'],
    ['@1795327200', '2026-11-22T06:00:00Z'],
  ] as const) {
    assert.equal(readTime(text, { zone: BERLIN, now: NOW }).at, Date.parse(wanted), text)
  }
})

test('readTime() lists valid formats when it rejects a text', () => {
  for (const text of ['', 'soon', '15', '3/4/2026', '2026-07-01 at noon', '15:00 Mars/Olympus', '15:0']) {
    assert.throws(() => readTime(text, { zone: BERLIN, now: NOW }), /is not a time: write now, /, text)
  }
  assert.throws(() => readTime('13pm', { zone: BERLIN, now: NOW }), /13 pm is not a time of day/)
  assert.throws(() => readTime('2026-02-30', { zone: BERLIN, now: NOW }), /30\.2\.2026 .* is not a date/)
})
