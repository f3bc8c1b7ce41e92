import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestGap, median, mostWithin, quantile } from '../../bench/statistics.ts'

test('quantile() and median() interpolate', () => {
  assert.equal(median([3, 1, 2]), 2)
  assert.equal(median([4, 1, 2, 3]), 2.5)
  assert.equal(quantile([10, 20], 0.99), 19.9)
  assert.equal(quantile([7], 0.99), 7)
  assert.ok(Number.isNaN(median([])))
})

test('mostWithin() counts in the fullest window, its end excluded', () => {
  assert.equal(mostWithin([0, 500, 999, 1000, 1400, 3000], 1000), 4)
  assert.equal(mostWithin([0, 1000, 2000], 1000), 1)
  assert.equal(mostWithin([], 1000), 0)
})

test('longestGap() returns the longest time between neighbours', () => {
  assert.equal(longestGap([0, 30, 100, 120]), 70)
  assert.equal(longestGap([5]), 0)
})
