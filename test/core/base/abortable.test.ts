import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { abortable, toCancelledError } from '../../../src/core/base/abortable.ts'
import { CrabError } from '../../../src/core/base/errors.ts'

test('toCancelledError() returns the CrabError a signal was aborted with, or cancelled for anything else', () => {
  const tooLong = new CrabError('timeout', 'Cannot finish: too long')
  assert.equal(toCancelledError(AbortSignal.abort(tooLong)), tooLong)
  for (const reason of [undefined, 'why', new DOMException('late', 'TimeoutError')])
    assert.equal(toCancelledError(AbortSignal.abort(reason)).kind, 'cancelled')
})

test('abortable() passes on the result or the error of the work', async () => {
  const { signal } = new AbortController()
  assert.equal(await abortable(Promise.resolve(7), signal), 7)
  await assert.rejects(abortable(Promise.reject(new CrabError('failed', 'no')), signal), { kind: 'failed' })
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})

test('abortable() stops waiting at an abort, before or meanwhile, and does not stop the work', async () => {
  const work = Promise.withResolvers<number>()
  await assert.rejects(abortable(work.promise, AbortSignal.abort()), { kind: 'cancelled' })
  const stop = new AbortController()
  const waiting = abortable(work.promise, stop.signal)
  stop.abort(new CrabError('timeout', 'late'))
  await assert.rejects(waiting, { kind: 'timeout' })
  work.reject(new Error('nobody waits for this any more'))
})
