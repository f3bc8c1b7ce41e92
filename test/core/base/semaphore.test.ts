import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Semaphore } from '../../../src/core/base/semaphore.ts'

test('Semaphore admits the given number, and the others in order', async () => {
  const semaphore = new Semaphore(2)
  const log: string[] = []
  const held = await Promise.all([semaphore.take(), semaphore.take()])
  const waiting = ['c', 'd'].map((name) =>
    semaphore.take().then((slot) => {
      log.push(name)
      return slot
    }),
  )
  await nextTurn()
  assert.deepEqual(log, [])
  held[1]![Symbol.dispose]()
  const third = await waiting[0]!
  assert.deepEqual(log, ['c'])
  third[Symbol.dispose]()
  await waiting[1]
  assert.deepEqual(log, ['c', 'd'])
})

test('Semaphore removes a waiter that is aborted', async () => {
  const semaphore = new Semaphore(1)
  const held = await semaphore.take()
  const stop = new AbortController()
  const gone = semaphore.take({ signal: stop.signal })
  const next = semaphore.take()
  stop.abort()
  await assert.rejects(gone, { kind: 'cancelled' })
  held[Symbol.dispose]()
  using _slot = await next
  await assert.rejects(semaphore.take({ signal: stop.signal }), { kind: 'cancelled' })
})

test('Semaphore does not lose the permit of a waiter that is aborted as it arrives', async () => {
  const semaphore = new Semaphore(1)
  const held = await semaphore.take()
  const stop = new AbortController()
  const lucky = semaphore.take({ signal: stop.signal })
  const log: string[] = []
  const next = semaphore.take().then(() => log.push('next'))
  held[Symbol.dispose]()
  stop.abort()
  const slot = await lucky
  await nextTurn()
  assert.deepEqual(log, [])
  slot[Symbol.dispose]()
  await next
  assert.deepEqual(log, ['next'])
})

test('Semaphore admits urgent callers first, also those that become urgent later', async () => {
  const semaphore = new Semaphore(1)
  const log: string[] = []
  const held = await semaphore.take()
  const later = Promise.withResolvers<void>()
  const all = Object.entries({ a: undefined, b: Promise.resolve(), c: later.promise }).map(
    async ([name, urgent]) => {
      using _slot = await semaphore.take(urgent ? { urgent } : {})
      log.push(name)
    },
  )
  await nextTurn()
  later.resolve()
  await nextTurn()
  held[Symbol.dispose]()
  await Promise.all(all)
  assert.deepEqual(log, ['b', 'c', 'a'])
})
