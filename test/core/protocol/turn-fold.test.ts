import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StreamEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { OpenAsks } from '../../../src/core/protocol/open-asks.ts'
import { foldTurnEvent, newTurnFold, type WireTurnEvent } from '../../../src/core/protocol/turn-fold.ts'

test('foldTurnEvent() summarizes a turn: who speaks, its texts, its calls and its end', () => {
  const denial = { action: 'bash: rm', reason: 'no rule', rules: ['bash(rm)'], by: 3 }
  const turn = newTurnFold()
  const events = [
    event('start', { agent: 'crab', runId: 'r', sessionId: 's', model: 'm' }),
    event('textStart', {}),
    event('chunk', { content: 'Look' }),
    event('chunk', { content: 'ing.' }),
    event('textEnd', {}),
    event('toolStart', {
      calls: [
        { callId: 'a', name: 'read' },
        { callId: 'b', name: 'mcp__fs__x', server: 'fs' },
      ],
    }),
    event('toolResult', { callId: 'b', durationMs: 5, isError: true, denial }),
    event('toolResult', { callId: 'a', durationMs: 7 }),
    event('toolStart', { calls: [{ callId: 'a', name: 'grep' }] }),
    event('toolResult', { callId: 'a', durationMs: 1 }),
    event('textStart', {}),
    event('textEnd', {}),
    event('chunk', { content: 'Half' }),
  ]
  for (const one of events) foldTurnEvent(turn, one)
  const { summary } = turn
  assert.deepEqual([turn.agent, turn.run, turn.session, turn.model], ['crab', 'r', 's', 'm'])
  assert.deepEqual(
    [summary.texts, summary.text, summary.lastText],
    [['Looking.', 'Half'], 'Looking.\n\nHalf', 'Half'],
  )
  assert.deepEqual(
    [...summary.tools.values()].map((tool) => Object.values(tool).join(' ')),
    ['mcp__fs__x fs 1 1 5', 'read  1 0 7', 'grep  1 0 1'],
  )
  assert.deepEqual(summary.denied, [{ name: 'mcp__fs__x', server: 'fs', denial }])
  foldTurnEvent(turn, event('end', { turns: 2 }))
  assert.equal(turn.end?.turns, 2)
})

test('foldTurnEvent() drops the texts of an answer that broke off, and no others', () => {
  const turn = newTurnFold()
  const say = (content: string) => [event('textStart', {}), event('chunk', { content }), event('textEnd', {})]
  const [start, chunk] = say('Ha')
  const events = [
    ...say('Done before.'),
    ...say('One'),
    ...[start!, chunk!, event('retry', { attempt: 1, discardedTexts: 2 }), event('textEnd', {})],
    ...[event('retry', { attempt: 2 }), ...say('One, whole.')],
  ]
  for (const one of events) foldTurnEvent(turn, one)
  assert.deepEqual(turn.summary.texts, ['Done before.', 'One, whole.'])
})

test('OpenAsks knows each question once, and aborts its signal when it is closed', () => {
  const asks = new OpenAsks()
  const opened = event('askUser', { askId: 'a' })
  assert.deepEqual([asks.apply(opened), asks.apply(opened), asks.size], [true, false, 1])
  const [open] = asks
  assert.deepEqual([open?.ask.askId, open?.closed.aborted], ['a', false])
  const closed = event('askClosed', { askId: 'a', by: 'ann' })
  assert.deepEqual([asks.apply(closed), asks.apply(closed), asks.size], [true, false, 0])
  assert.equal(open?.closed.aborted, true)
  assert.equal(asks.apply(event('end', {})), false)
})

function event($case: WireTurnEvent['$case'], value: object): WireTurnEvent {
  return StreamEvent.fromPartial({ event: { $case, value } as WireTurnEvent }).event!
}
