import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SessionMessage, StreamEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { Viewport } from '../../../src/tui/controller/viewport.ts'
import { chunk, textEnd, textStart, toolResult, toolStart, turnEnd } from '../../support/chat-state.ts'

/** A turn of two steps with a steer between them, as stored from line 3 on. */
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
  const viewport = new Viewport()
  viewport.stored(3)
  for (const [at, event] of EVENTS.slice(0, count).entries())
    viewport.take(StreamEvent.create({ seq: at + 1, event }))
  return viewport.missing(STORED).map(({ content }) => content)
}

test('Viewport.missing() returns what was stored after the last answer that was shown in full', () => {
  assert.deepEqual(missingAfter(0), ['one', 'found', 'steered', 'two', 'next', 'three'])
  assert.deepEqual(missingAfter(2), ['one', 'found', 'steered', 'two', 'next', 'three'])
  assert.deepEqual(missingAfter(6), ['steered', 'two', 'next', 'three'])
  assert.deepEqual(missingAfter(7), ['two', 'next', 'three'])
  assert.deepEqual(missingAfter(EVENTS.length), ['next', 'three'])
})

test('Viewport.stored() counts from that line on', () => {
  const viewport = new Viewport()
  viewport.stored(3)
  for (const event of EVENTS) viewport.take(StreamEvent.create({ event }))
  viewport.stored(8)
  assert.deepEqual(
    viewport.missing(STORED).map(({ content }) => content),
    ['three'],
  )
})

test('Viewport.take() rejects an event that was shown before', () => {
  const viewport = new Viewport()
  const take = (seq: number) => viewport.take(StreamEvent.create({ seq, event: chunk('x') }))
  assert.deepEqual(
    [take(1), take(2), take(2), take(1), take(3), viewport.seq],
    [true, true, false, false, true, 3],
  )
})
