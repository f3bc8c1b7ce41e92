import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LineReader } from '../../../src/mcp/stdio/line-reader.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('LineReader returns the same lines for any division of a stream', () => {
  const line = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed().replaceAll('\n', ''))
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat({ max: 40 })), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((one) => `${one}\n`).join(''))
      const reader = new LineReader(10_000)
      const read: string[] = []
      let at = 0
      for (const length of [...cuts, bytes.length]) {
        read.push(...reader.push(bytes.subarray(at, at + length))!)
        at += length
      }
      assert.deepEqual(read, lines)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('LineReader keeps an incomplete line', () => {
  const reader = new LineReader(10)
  assert.deepEqual(reader.push(Buffer.from('ab')), [])
  assert.deepEqual(reader.push(Buffer.from('c\n\nd')), ['abc', ''])
  assert.deepEqual(reader.push(Buffer.from('\n')), ['d'])
})

test('LineReader reports a line that is too long, whether it ends or not', () => {
  assert.deepEqual(new LineReader(3).push(Buffer.from('abc\nabc')), ['abc'])
  assert.equal(new LineReader(3).push(Buffer.from('abcd\n')), undefined)
  const reader = new LineReader(3)
  assert.deepEqual(reader.push(Buffer.from('ab')), [])
  assert.equal(reader.push(Buffer.from('cd')), undefined)
})
