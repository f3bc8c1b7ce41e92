import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Slots } from '../../src/mcp/slots.ts'

const NEVER = new AbortController().signal

test('Slots lets so many in, the others in their order', async () => {
  const slots = new Slots(2)
  const log: string[] = []
  const held = await Promise.all([slots.take(NEVER), slots.take(NEVER)])
  const waiting = ['c', 'd'].map((name) =>
    slots.take(NEVER).then((slot) => {
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
  const slots = new Slots(1)
  const held = await slots.take(NEVER)
  const stop = new AbortController()
  const gone = slots.take(stop.signal)
  const next = slots.take(NEVER)
  stop.abort()
  await assert.rejects(gone, { kind: 'cancelled' })
  held[Symbol.dispose]()
  using _slot = await next
  await assert.rejects(slots.take(stop.signal), { kind: 'cancelled' })
})

test('Slots does not lose the slot of one who gives up just as it comes', async () => {
  const slots = new Slots(1)
  const held = await slots.take(NEVER)
  const stop = new AbortController()
  const lucky = slots.take(stop.signal)
  const next = slots.take(NEVER)
  held[Symbol.dispose]()
  stop.abort()
  const slot = await lucky
  slot[Symbol.dispose]()
  await next
})
