import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lazy } from '../../../src/core/base/lazy.ts'

test('lazy() creates its value on first use, and only then', async () => {
  let made = 0
  const value = lazy(async () => ++made)
  assert.equal(value.current, undefined)
  assert.equal(made, 0)
  assert.deepEqual(await Promise.all([value.get(), value.get(), value.current]), [1, 1, 1])
  assert.equal(await value.get(), 1)
})

test('lazy() rejects all waiters on failure, and retries for the next', async () => {
  let attempts = 0
  const value = lazy(async () => {
    if (++attempts === 1) throw new Error('not yet')
    return attempts
  })
  const early = await Promise.allSettled([value.get(), value.get()])
  assert.deepEqual(
    early.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(value.current, undefined)
  assert.equal(await value.get(), 2)
})
