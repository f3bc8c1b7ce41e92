import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import type { AgentEvent } from '../../../src/core/runtime/events.ts'
import type { Hook } from '../../../src/core/runtime/hook.ts'
import {
  doneReasons,
  findEnd,
  joinAnswer,
  spoken,
  startTestNode,
  type TestNode,
  toSentLines,
} from '../../support/test-node.ts'
import { endlessTool, toolsHook } from '../../support/tools.ts'
import { until } from '../../support/until.ts'

const TALKING = { parts: ['Once upon a time'], end: 'hang' } as const

/** The ways to stop a turn after an event; each returns the events that were seen. */
const WAYS = {
  'an abort': async (node: TestNode, at: (event: AgentEvent) => unknown) => {
    const stop = new AbortController()
    const events: AgentEvent[] = []
    for await (const event of node.turn('tell', {}, stop.signal)) {
      events.push(event)
      if (at(event)) stop.abort()
    }
    const { stopReason, error } = findEnd(events)
    assert.deepEqual([stopReason, error?.kind], ['cancelled', 'cancelled'])
    return events
  },
  leaving: async (node: TestNode, at: (event: AgentEvent) => unknown) => {
    const events: AgentEvent[] = []
    for await (const event of node.turn('tell')) {
      events.push(event)
      if (await at(event)) break
    }
    return events
  },
}

for (const [way, stopAt] of Object.entries(WAYS)) {
  test(`${way} during text closes the connection and keeps the partial answer`, async () => {
    await using node = await startTestNode([TALKING, { parts: ['Anew'] }])
    const events = await stopAt(node, (event) => event.type === 'text')
    assert.equal(joinAnswer(events), 'Once upon a time')
    assert.equal(await node.server.requests[0]!.done, false)
    const lines = ['user: tell', 'assistant: Once upon a time [cancelled]']
    assert.deepEqual(spoken(await node.lines()), lines)
    await node.ask('again')
    assert.deepEqual(toSentLines(node.server.requests[1]), [
      'user: tell',
      'assistant: Once upon a time',
      'user: again',
    ])
    assert.deepEqual(spoken(await node.lines()), [...lines, 'user: again', 'assistant: Anew'])
    assert.deepEqual(doneReasons(await node.lines()), ['cancelled', 'stop'])
  })

  test(`${way} before the first word keeps the message and nothing else`, async () => {
    await using node = await startTestNode(() => ({ parts: ['Anew'] }))
    await stopAt(node, (event) => event.type === 'start')
    assert.deepEqual(spoken(await node.lines()), ['user: tell'])
    await node.ask('again')
    assert.deepEqual(spoken(await node.lines()), ['user: tell', 'user: again', 'assistant: Anew'])
  })

  test(`${way} during tools stops them, and keeps calls and results`, async () => {
    const endless = endlessTool()
    const hook = toolsHook({ look: () => 'seen', endless })
    const parts = ['Now this.', call('b', 'endless'), call('c', 'look')]
    await using node = await startTestNode(
      [{ parts: ['First.', call('a', 'look')] }, { parts }, { parts: ['Anew'] }],
      { hooks: [hook] },
    )
    let results = 0
    await stopAt(node, (event) => event.type === 'tool-result' && ++results === 2)
    assert.equal(endless.hasEnded, true)
    assert.deepEqual(spoken(await node.lines()), [
      'user: tell',
      'assistant: First. <look>',
      'tool: seen',
      'assistant: Now this. <endless> <look>',
      'tool: Interrupted: the turn was cancelled while this ran; a part of it may be done.',
      'tool: seen',
    ])
    assert.equal(joinAnswer(await node.ask('again')), 'Anew')
  })

  test(`${way} between steps keeps the finished step`, async () => {
    await using node = await startTestNode([{ parts: [call('a', 'look')] }], {
      hooks: [toolsHook({ look: () => 'seen' })],
    })
    await stopAt(node, (event) => event.type === 'tools-complete')
    assert.deepEqual(spoken(await node.lines()), ['user: tell', 'assistant:  <look>', 'tool: seen'])
    assert.deepEqual(doneReasons(await node.lines()), ['cancelled'])
  })

  test(`${way} releases the conversation`, async () => {
    await using node = await startTestNode([TALKING, { parts: ['Anew'] }])
    const waiting = node.turn('and me')
    const next: Promise<IteratorResult<AgentEvent>>[] = []
    await stopAt(node, (event) => event.type === 'text' && next.push(waiting.next()))
    assert.equal((await next[0])?.value.type, 'start')
    assert.equal(joinAnswer(await Array.fromAsync(waiting)), 'Anew')
  })
}

test('Runtime.turn() ends with the error that it was aborted with', async () => {
  await using node = await startTestNode([TALKING])
  const stop = new AbortController()
  const events: AgentEvent[] = []
  const tooSlow = new CrabError('timeout', 'Cannot finish within 1 s', { hint: 'give it longer' })
  for await (const event of node.turn('tell', {}, stop.signal)) {
    events.push(event)
    if (event.type === 'text') stop.abort(tooSlow)
  }
  assert.equal(findEnd(events).error, tooSlow)
  assert.equal(findEnd(events).stopReason, 'cancelled')
})

test('Runtime.turn() ends while the model is silent, and while it waits to retry', async () => {
  const later = { status: 503, headers: { 'retry-after': '15' } }
  await using node = await startTestNode([{ silent: true }, later], { maxRetries: 1 })
  const stop = new AbortController()
  const silent = node.ask('tell', {}, stop.signal)
  await until('the model is asked', () => node.server.requests.length === 1)
  stop.abort()
  assert.equal(findEnd(await silent).stopReason, 'cancelled')
  assert.equal(await node.server.requests[0]!.done, false)
  const again = new AbortController()
  for await (const event of node.turn('tell', {}, again.signal)) {
    if (event.type === 'retry') again.abort()
    if (event.type === 'end') assert.equal(event.stopReason, 'cancelled')
  }
})

test('Runtime.turn() that is stopped while it waits for its conversation writes nothing', async () => {
  const gate = Promise.withResolvers<void>()
  await using node = await startTestNode([{ parts: ['One', gate.promise] }])
  const stop = new AbortController()
  const first = node.turn('first')
  while ((await first.next()).value.type !== 'text');
  const second = node.ask('second', {}, stop.signal)
  stop.abort()
  await assert.rejects(second, { kind: 'cancelled' })
  gate.resolve()
  await Array.fromAsync(first)
  assert.deepEqual(spoken(await node.lines()), ['user: first', 'assistant: One'])
})

function call(id: string, name: string) {
  return { call: id, name, args: '{}' }
}

test('hooks see a turn end, and its questions close, when its client leaves', async () => {
  const seen: string[] = []
  const question = { question: 'Which?', header: 'Pick', options: [], multiSelect: false }
  const asker = toolsHook({ ask: async (at) => JSON.stringify(await at.ask([question], 'question')) })
  const watcher: Hook = { onEvent: (_, __, event) => seen.push(event.type) }
  await using node = await startTestNode([{ parts: [call('a', 'ask')] }], { hooks: [asker, watcher] })
  for await (const event of node.turn('go', { settings: { onAsk: 'client' } })) {
    if (event.type === 'ask') break
  }
  assert.deepEqual(seen, ['start', 'tool-start', 'ask', 'ask-closed', 'tool-result', 'end'])
})
