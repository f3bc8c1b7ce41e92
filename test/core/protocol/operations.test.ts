import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServerMessage } from '../../../src/core/protocol/crabtalk.generated.ts'
import { isEndless, isLastReply, type Operation, REPLIES } from '../../../src/core/protocol/operations.ts'

const MANY = ['stream', 'subscribeEvents', 'subscribeMcpEvents', 'attach', 'mcpTrace']

test('isLastReply() is true for the first reply of a one-reply operation, and for every error', () => {
  for (const operation of Object.keys(REPLIES) as Operation[]) {
    const first = ServerMessage.create({ msg: { $case: REPLIES[operation], value: {} } as never }).msg
    assert.equal(isLastReply(operation, first), !MANY.includes(operation), operation)
    const error = ServerMessage.create({ msg: { $case: 'error', value: { code: 500 } } }).msg
    assert.ok(isLastReply(operation, error), operation)
  }
  assert.ok(isLastReply(undefined, undefined))
})

test('isLastReply() of a turn is its end', () => {
  for (const [event, isLast] of [
    ['start', false],
    ['chunk', false],
    ['end', true],
  ] as const) {
    const { msg } = ServerMessage.create({
      msg: { $case: 'stream', value: { event: { $case: event, value: {} } } } as never,
    })
    assert.equal(isLastReply('stream', msg), isLast)
  }
})

test('isEndless() returns the operations that continue until their client leaves', () => {
  const endless = (Object.keys(REPLIES) as Operation[]).filter(isEndless)
  assert.deepEqual(endless.toSorted(), MANY.filter((name) => name !== 'stream').toSorted())
  assert.ok(!isEndless(undefined))
})
