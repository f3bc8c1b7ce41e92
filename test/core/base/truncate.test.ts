import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { takeEnd, takeStart } from '../../../src/core/base/truncate.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const texts = fc.string({ unit: 'grapheme' })

test('takeStart() and takeEnd() return the requested length, but never half a character', () => {
  fc.assert(
    fc.property(texts, fc.nat({ max: 20 }), (text, length) => {
      const [head, tail] = [takeStart(text, length), takeEnd(text, length)]
      assert.ok(text.startsWith(head) && text.endsWith(tail))
      const room = Math.min(length, text.length)
      for (const part of [head, tail]) {
        assert.ok(part.isWellFormed())
        assert.ok(part.length === room || part.length === room - 1)
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
  assert.equal(takeStart('a🦀b', 2), 'a')
  assert.equal(takeEnd('a🦀b', 2), 'b')
  assert.equal(takeEnd('text', 0), '')
})
