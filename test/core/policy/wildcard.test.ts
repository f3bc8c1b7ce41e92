import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesPieces } from '../../../src/core/policy/wildcard.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('matchesPieces() matches like a regular expression with .* between the pieces', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 8 })
  const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 3 }), {
    minLength: 1,
    maxLength: 4,
  })
  fc.assert(
    fc.property(pieces, text, (parts, whole) => {
      assert.equal(matchesPieces(parts, whole), new RegExp(`^(?:${parts.join('.*')})$`, 's').test(whole))
    }),
    { numRuns: propertyRuns(5_000) },
  )
})

test('matchesPieces() does not let the start and the end overlap', () => {
  assert.ok(!matchesPieces(['ab', 'ba'], 'aba'))
  assert.ok(!matchesPieces(['a', 'b', 'b'], 'ab'))
  assert.ok(matchesPieces(['', ''], ''))
})

test('matchesPieces() takes linear time for many stars', () => {
  const pieces = [...Array.from({ length: 500 }, () => 'a'), 'b']
  assert.ok(!matchesPieces(pieces, 'a'.repeat(100_000)))
})
