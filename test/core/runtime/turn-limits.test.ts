import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Script } from '../../support/model-server.ts'
import { findEnd, joinAnswer, spoken, startTestNode, toSentLines } from '../../support/test-node.ts'
import { toolsHook } from '../../support/tools.ts'

const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
const ASKED = { settings: { schema: SCHEMA } }
/** Every token costs one dollar. */
const PRICED = [{ name: 'scripted', facts: { inputUsd: 1_000_000, outputUsd: 1_000_000 } }]
const LOOK = { parts: [{ call: 'a', name: 'look', args: '{}' }], usage: { input: 2, output: 1 } }

test('Runtime.turn() accepts an answer that matches the schema', async () => {
  await using node = await startTestNode([{ parts: ['{"n":1}'] }])
  const { stopReason, turns } = findEnd(await node.ask('count', ASKED))
  assert.deepEqual([stopReason, turns], ['stop', 1])
  const format = node.server.requests[0]?.json['response_format'] as { json_schema: { schema: unknown } }
  assert.deepEqual(format.json_schema.schema, SCHEMA)
})

test('Runtime.turn() asks once more for an invalid answer, and stores only the corrected one', async () => {
  await using node = await startTestNode([{ parts: ['one'] }, { parts: ['{"n":1}'] }])
  const events = await node.ask('count', ASKED)
  assert.equal(findEnd(events).stopReason, 'stop')
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'notice' ? [event.message] : [])),
    ['The answer does not meet the schema (the answer is not JSON); asking once more'],
  )
  assert.deepEqual(toSentLines(node.server.requests[1]), [
    'user: count',
    'assistant: one',
    'user: Your answer does not meet the required JSON schema: the answer is not JSON. Answer again with JSON only.',
  ])
  assert.deepEqual(spoken(await node.lines()), ['user: count', 'assistant: {"n":1}'])
})

test('Runtime.turn() asks once more for an empty answer, in a request that providers accept', async () => {
  await using node = await startTestNode([{ parts: [] }, { parts: ['{"n":1}'] }])
  assert.equal(findEnd(await node.ask('count', ASKED)).stopReason, 'stop')
  const [message, ...more] = toSentLines(node.server.requests[1])
  assert.match(message ?? '', /^user: count\n\nYour answer does not meet/)
  assert.deepEqual(more, [])
})

test('Runtime.turn() fails with `schema` when the second answer does not match either, and keeps it', async () => {
  await using node = await startTestNode([{ parts: ['one'] }, { parts: ['{"n":"two"}'] }])
  const { error, stopReason, turns } = findEnd(await node.ask('count', ASKED))
  assert.deepEqual([error?.kind, stopReason, turns], ['schema', 'failed', 2])
  assert.match(error?.message ?? '', /#\/n/)
  assert.deepEqual(spoken(await node.lines()), ['user: count', 'assistant: {"n":"two"} [failed]'])
})

test('Runtime.turn() corrects the answer after the tools it called for it', async () => {
  const script = [{ parts: ['one'] }, LOOK, { parts: ['{"n":1}'] }]
  await using node = await startTestNode(script, { hooks: [toolsHook({ look: () => 'seen' })] })
  const events = await node.ask('count', ASKED)
  assert.equal(findEnd(events).stopReason, 'stop')
  const roles = toSentLines(node.server.requests[2]).map((message) => message.split(':')[0])
  assert.deepEqual(roles, ['user', 'assistant', 'user', 'assistant', 'tool'])
})

test('Runtime.turn() checks no schema while it calls tools, or when the answer was truncated', async () => {
  const hooks = [toolsHook({ look: () => 'seen' })]
  await using node = await startTestNode([LOOK, { parts: ['{"n":'], finish: 'length' }], { hooks })
  assert.equal(findEnd(await node.ask('count', ASKED)).stopReason, 'length')
})

test('Runtime.turn() rejects an invalid schema as an invalid request', async () => {
  await using node = await startTestNode([{ parts: ['{}'] }])
  const { error } = findEnd(await node.ask('count', { settings: { schema: { $ref: '#/none' } } }))
  assert.equal(error?.kind, 'invalid')
})

test('Runtime.turn() does not call the model once its cost limit is spent', async () => {
  await using node = await startPriced([LOOK, LOOK, { parts: ['Done'] }])
  const { stopReason, turns, costUsd } = findEnd(await node.ask('go', { settings: { maxCostUsd: 6 } }))
  assert.deepEqual([stopReason, turns, costUsd], ['max_cost', 2, 6])
  assert.deepEqual(spoken(await node.lines()).at(-1), 'tool: seen')
})

test('Runtime.turn() returns an answer that cost more than the limit as an ordinary one', async () => {
  await using node = await startPriced([{ parts: ['Done'], usage: { input: 100, output: 1 } }])
  const events = await node.ask('go', { settings: { maxCostUsd: 1 } })
  assert.deepEqual([findEnd(events).stopReason, joinAnswer(events)], ['stop', 'Done'])
})

test('Runtime.turn() adds up usage and omits the cost if a price is unknown', async () => {
  const hooks = [toolsHook({ look: () => 'seen' })]
  await using node = await startTestNode([LOOK, { parts: ['Done'], usage: { input: 5, output: 2 } }], {
    hooks,
  })
  const events = await node.ask('go')
  const { usage, costUsd } = findEnd(events)
  assert.deepEqual(usage, { input: 7, output: 3, cache_read: 0, cache_write: 0, reasoning: 0 })
  assert.equal(costUsd, undefined)
  assert.equal(events.filter(({ type }) => type === 'usage').length, 2)
  const done = (await node.lines()).at(-1)
  assert.deepEqual(done?.kind === 'event' && done.event === 'done' && done.usage, usage)
})

function startPriced(script: Script) {
  return startTestNode(script, { models: PRICED, hooks: [toolsHook({ look: () => 'seen' })] })
}
