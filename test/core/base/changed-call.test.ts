import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withChangeNote, withoutChangeNote } from '../../../src/core/base/changed-call.ts'

const ARGS = '{"command":"ls [a]"}'

test('withoutChangeNote() removes the note when the call is shown as it ran, and otherwise says it to the user', () => {
  const output = withChangeNote('a.txt\n', ARGS)
  assert.equal(withoutChangeNote(output, ARGS), 'a.txt\n')
  assert.equal(withoutChangeNote(output, '{"command":"ls"}'), `You changed this call: ${ARGS}\na.txt\n`)
})

test('withoutChangeNote() keeps every other output', () => {
  for (const output of [
    'a.txt',
    '',
    '[The user changed this call. It ran with x]\ny',
    '[The user changed this call. It ran with ',
  ])
    assert.equal(withoutChangeNote(output, ARGS), output)
})
