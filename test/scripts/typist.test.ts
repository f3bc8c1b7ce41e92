import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typist } from '../../scripts/sea/typist.ts'

test('typist() types each text once its pattern was shown, in pieces or whole, and never twice', () => {
  const typed: string[] = []
  const keys = [
    { on: /> /, type: 'hi\r' },
    { on: /> /, type: 'bye\r' },
  ]
  const { wrote, isDone } = typist(keys, (text) => typed.push(text))
  for (const bytes of ['hello', ' >', ' ', 'hi', 'there']) wrote(bytes)
  assert.deepEqual([typed, isDone()], [['hi\r'], false])
  for (const bytes of ['> ', '> ']) wrote(bytes)
  assert.deepEqual([typed, isDone()], [['hi\r', 'bye\r'], true])
})
