import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { wholeLength, wholeStart } from '../../../src/core/process/utf8-cut.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('wholeLength() and wholeStart() cut a text anywhere between its characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.nat(), (text, at) => {
      const bytes = Buffer.from(text)
      const cut = at % (bytes.length + 1)
      const [head, tail] = [bytes.subarray(0, cut), bytes.subarray(cut)]
      const shown = [head.subarray(0, wholeLength(head)), tail.subarray(wholeStart(tail))].map(String)
      assert.ok(text.startsWith(shown[0]!) && text.endsWith(shown[1]!))
      assert.ok([...text].length - [...shown.join('')].length <= 1)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('wholeLength() and wholeStart() keep bytes that are not characters', () => {
  for (const bytes of [[], [0x80], [0x80, 0x80, 0x80, 0x80, 0x80], [0x41, 0x80, 0x80]]) {
    assert.equal(wholeLength(Uint8Array.from(bytes)), bytes.length)
  }
  assert.equal(wholeStart(new Uint8Array(10).fill(0x80)), 3)
  assert.equal(wholeStart(new Uint8Array(0)), 0)
})
