import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { splitRecords } from '../../../../src/core/hooks/search/records.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

test('splitRecords() returns the same records for any division of the bytes', async () => {
  const pieces = fc.array(fc.uint8Array({ max: 3, maxLength: 6 }), { maxLength: 8 })
  const property = fc.asyncProperty(pieces, async (bytes) => {
    const whole = Buffer.concat(bytes).toString('latin1').split('\0')
    if (whole.at(-1) === '') whole.pop()
    const records = await Array.fromAsync(splitRecords(from(bytes), { delimiter: 0, maxBytes: 100 }))
    assert.deepEqual(
      records.map((record) => record.toString('latin1')),
      whole,
    )
  })
  await fc.assert(property, { numRuns: propertyRuns(1_000) })
})

test('splitRecords() drops a record that is too long, and returns all that follow', async () => {
  const bytes = ['ab', 'cdef', 'g\nhi\n', '123456\nj\n12', '3456'].map((text) => Buffer.from(text))
  const records = await Array.fromAsync(splitRecords(from(bytes), { delimiter: 0x0a, maxBytes: 5 }))
  assert.deepEqual(records.map(String), ['hi', 'j'])
})

async function* from(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}
