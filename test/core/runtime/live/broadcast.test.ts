import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Broadcast } from '../../../../src/core/runtime/live/broadcast.ts'

const isCancelled = { kind: 'cancelled' }

test('Broadcast.listen() yields what is sent after its call, and ends when its signal aborts', async () => {
  const broadcast = new Broadcast<number>()
  const leave = new AbortController()
  const received = broadcast.listen(leave.signal)
  broadcast.publish(1)
  broadcast.publish(2)
  assert.deepEqual([(await received.next()).value, (await received.next()).value], [1, 2])
  const next = received.next()
  leave.abort()
  await assert.rejects(next, isCancelled)
  assert.equal(broadcast.hasListeners, false)
})

test('Broadcast.listen() ends immediately for an aborted signal', async () => {
  const broadcast = new Broadcast<number>()
  const received = broadcast.listen(AbortSignal.abort())
  assert.equal(broadcast.hasListeners, false)
  await assert.rejects(received.next(), isCancelled)
})

test('Broadcast.listen() throws for a reader that falls too far behind', async () => {
  const broadcast = new Broadcast<number>()
  const received = broadcast.listen(new AbortController().signal, { most: 2 })
  for (const value of [1, 2, 3]) broadcast.publish(value)
  await assert.rejects(received.next(), { kind: 'unavailable' })
  assert.equal(broadcast.hasListeners, false)
})
