import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localTime, timeLeft } from '../../../src/commands/cron/time-left.ts'

test('timeLeft() formats the time until then', () => {
  const cases: [number, string][] = [
    [-5, 'now'],
    [0, 'now'],
    [1, 'in 1s'],
    [59_000, 'in 59s'],
    [60_000, 'in 1m'],
    [3_599_000, 'in 59m'],
    [2 * 3_600_000, 'in 2h'],
    [40 * 86_400_000, 'in 1mo'],
    [800 * 86_400_000, 'in 2y'],
  ]
  for (const [ms, text] of cases) assert.equal(timeLeft(1_000_000 + ms, 1_000_000), text)
})

test('localTime() formats the time in the local time zone', () => {
  process.env['TZ'] = 'Europe/Berlin'
  assert.equal(localTime(Date.UTC(2026, 0, 4, 23, 5, 9)), 'Mon 2026-01-05 00:05:09')
})
