import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  formatCount,
  formatDuration,
  formatUsd,
  pluralize,
  toLocalClock,
  toLocalDay,
} from '../../../src/core/base/format.ts'

test('pluralize() uses the singular for one', () => {
  assert.deepEqual(
    [
      pluralize(1, 'line'),
      pluralize(0, 'line'),
      pluralize(2, 'entry', 'entries'),
      pluralize(1, 'entry', 'entries'),
    ],
    ['1 line', '0 lines', '2 entries', '1 entry'],
  )
})

test('formatDuration() formats time spans in human units', () => {
  const cases = new Map([
    [0, '0 ms'],
    [940.4, '940 ms'],
    [1_000, '1.0 s'],
    [59_949, '59.9 s'],
    [59_950, '1 m 00 s'],
    [3_599_999, '60 m 00 s'],
  ])
  for (const [ms, text] of cases) assert.equal(formatDuration(ms), text)
})

test('formatCount() needs five characters at most', () => {
  const cases = new Map([
    [0, '0'],
    [999, '999'],
    [1_000, '1k'],
    [12_345, '12.3k'],
    [200_000, '200k'],
    [999_499, '999k'],
    [999_500, '1M'],
    [1_048_576, '1.05M'],
    [100, '100'],
    [5_300, '5.3k'],
  ])
  for (const [count, text] of cases) assert.equal(formatCount(count), text)
})

test('formatUsd() never shows a cost as free', () => {
  assert.deepEqual([0, 0.0004, 0.126, 12].map(formatUsd), ['$0.00', '<$0.01', '$0.13', '$12.00'])
})

test('toLocalDay() and toLocalClock() use the time zone of this machine', () => {
  const time = new Date(2026, 0, 2, 3, 4, 5)
  assert.deepEqual([toLocalDay(time), toLocalClock(time)], ['2026-01-02', '03:04:05'])
})
