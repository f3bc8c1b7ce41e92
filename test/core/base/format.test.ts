import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pluralize } from '../../../src/core/base/format.ts'

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
