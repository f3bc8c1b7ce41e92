import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { keepWatching } from '../../../src/tui/controller/keep-watching.ts'

test('keepWatching() watches again after a failure, until it is stopped or the operation is unknown', async () => {
  const stop = new AbortController()
  let count = 0
  const watch = async () => {
    count++
    if (count === 2) stop.abort()
    throw new CrabError('throttled', 'Cannot list the questions: too many requests')
  }
  await keepWatching(watch, stop.signal)
  assert.equal(count, 2)
  await keepWatching(async () => {
    throw new CrabError('invalid', 'Cannot read the message: unknown operation')
  }, new AbortController().signal)
})
