import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GroupLock } from '../../../src/core/runtime/group-lock.ts'

const NEVER = new AbortController().signal

test('GroupLock admits one group at a time, and all of that group', async () => {
  const lock = new GroupLock<string>()
  const [first, second] = [await lock.enter('a', NEVER), await lock.enter('a', NEVER)]
  const log: string[] = []
  const others = [1, 2].map(async (n) => {
    using _place = await lock.enter('b', NEVER)
    log.push(`b${n}`)
  })
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  await new Promise(setImmediate)
  assert.deepEqual(log, [])
  second[Symbol.dispose]()
  await Promise.all(others)
  assert.deepEqual(log, ['b1', 'b2'])
})

test('GroupLock: an abort ends the wait, and leaves the lock to others', async () => {
  const lock = new GroupLock<string>()
  const first = await lock.enter('a', NEVER)
  const stop = new AbortController()
  const waiting = assert.rejects(lock.enter('b', stop.signal), { kind: 'cancelled' })
  stop.abort()
  await waiting
  first[Symbol.dispose]()
  using _place = await lock.enter('c', NEVER)
})
