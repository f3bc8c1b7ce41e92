import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apportion } from '../../../src/core/base/apportion.ts'

test('apportion() returns whole numbers that add up to the total, near their shares', () => {
  assert.deepEqual(apportion([1, 1, 1], 10), [4, 3, 3])
  assert.deepEqual(apportion([700, 200, 100], 5), [4, 1, 0])
  assert.deepEqual(apportion([0, 3], 7), [0, 7])
  assert.deepEqual(apportion([0, 0], 7), [0, 0])
  assert.deepEqual(apportion([], 7), [])
})
