import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { PrioritySemaphore } from '../../../src/mcp/peers/priority-semaphore.ts'

const NEVER = new AbortController().signal
const UNNEEDED = new Promise<void>(() => {})

test('Slots lets so many in, the others in their order', async () => {
  const slots = new PrioritySemaphore(2)
  const log: string[] = []
  const held = await Promise.all([slots.take(UNNEEDED, NEVER), slots.take(UNNEEDED, NEVER)])
  const waiting = ['c', 'd'].map((name) =>
    slots.take(UNNEEDED, NEVER).then((slot) => {
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

test('Slots forgets who gives up', async () => {
  const slots = new PrioritySemaphore(1)
  const held = await slots.take(UNNEEDED, NEVER)
  const stop = new AbortController()
  const gone = slots.take(UNNEEDED, stop.signal)
  const next = slots.take(UNNEEDED, NEVER)
  stop.abort()
  await assert.rejects(gone, { kind: 'cancelled' })
  held[Symbol.dispose]()
  using _slot = await next
  await assert.rejects(slots.take(UNNEEDED, stop.signal), { kind: 'cancelled' })
})

test('Slots does not lose the slot of one who gives up just as it comes', async () => {
  const slots = new PrioritySemaphore(1)
  const held = await slots.take(UNNEEDED, NEVER)
  const stop = new AbortController()
  const lucky = slots.take(UNNEEDED, stop.signal)
  const next = slots.take(UNNEEDED, NEVER)
  held[Symbol.dispose]()
  stop.abort()
  const slot = await lucky
  slot[Symbol.dispose]()
  await next
})

test('Slots lets in first who is needed, also who is needed only later', async () => {
  const slots = new PrioritySemaphore(1)
  const log: string[] = []
  const held = await slots.take(UNNEEDED, NEVER)
  const later = Promise.withResolvers<void>()
  const all = Object.entries({ a: UNNEEDED, b: Promise.resolve(), c: later.promise }).map(
    async ([name, needed]) => {
      using _slot = await slots.take(needed, NEVER)
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
