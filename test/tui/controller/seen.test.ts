import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SessionMessage, StreamEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { Viewport } from '../../../src/tui/controller/viewport.ts'
import { chunk, textEnd, textStart, toolResult, toolStart, turnEnd } from '../../support/chat-state.ts'

/** A turn of two steps with a steer between them, as it is stored from line 3 on. */
const STORED = [
  ['user', 'go'],
  ['assistant', 'one'],
  ['tool', 'found'],
  ['user', 'steered'],
  ['assistant', 'two'],
  ['user', 'next'],
  ['assistant', 'three'],
].map(([role, content], at) => SessionMessage.create({ seq: at + 3, role: role!, content: content! }))

const EVENTS = [
  textStart,
  chunk('one'),
  textEnd,
  toolStart('a'),
  toolResult('a'),
  { $case: 'toolsComplete', value: {} },
  { $case: 'userSteered', value: { content: 'steered' } },
  textStart,
  chunk('two'),
  textEnd,
  turnEnd(),
] as const

const missingAfter = (count: number) => {
  const seen = new Viewport()
  seen.stored(3)
  for (const [at, event] of EVENTS.slice(0, count).entries())
    seen.take(StreamEvent.create({ seq: at + 1, event }))
  return seen.missing(STORED).map(({ content }) => content)
}

test('Seen.missing() gives what was stored behind the last answer that was shown whole', () => {
  assert.deepEqual(missingAfter(0), ['one', 'found', 'steered', 'two', 'next', 'three'])
  assert.deepEqual(missingAfter(2), ['one', 'found', 'steered', 'two', 'next', 'three'])
  assert.deepEqual(missingAfter(6), ['steered', 'two', 'next', 'three'])
  assert.deepEqual(missingAfter(7), ['two', 'next', 'three'])
  assert.deepEqual(missingAfter(EVENTS.length), ['next', 'three'])
})

test('Seen.stored() counts from that line on', () => {
  const seen = new Viewport()
  seen.stored(3)
  for (const event of EVENTS) seen.take(StreamEvent.create({ event }))
  seen.stored(8)
  assert.deepEqual(
    seen.missing(STORED).map(({ content }) => content),
    ['three'],
  )
})

test('Seen.take() refuses an event that was shown before', () => {
  const seen = new Viewport()
  const told = (seq: number) => seen.take(StreamEvent.create({ seq, event: chunk('x') }))
  assert.deepEqual(
    [told(1), told(2), told(2), told(1), told(3), seen.seq],
    [true, true, false, false, true, 3],
  )
})
