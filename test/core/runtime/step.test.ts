import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ModelEvent } from '../../../src/core/provider/types.ts'
import type { AgentEvent } from '../../../src/core/runtime/events.ts'
import { type Draft, emptyDraft, followStep, toAssistantMessage } from '../../../src/core/runtime/step.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const CALL = { id: 'a', name: 'read', arguments: '{}' }
const USAGE = { input: 3, output: 2, cache_read: 1, cache_write: 0, reasoning: 0 }

test('followStep() emits text and thinking in pairs and collects the message', async () => {
  const { told, draft } = await follow([
    { type: 'thinking', delta: 'Let me' },
    { type: 'thinking', delta: ' see.' },
    { type: 'thinking-end', meta: { signature: 'x' } },
    { type: 'text', delta: 'I ' },
    { type: 'text', delta: 'look.' },
    { type: 'tool-call', call: CALL },
    { type: 'finish', reason: 'tool-calls', usage: USAGE },
  ])
  assert.deepEqual(told.map(shown), [
    'thinking-start',
    'Let me',
    ' see.',
    'thinking-end',
    'text-start',
    'I ',
    'look.',
    'text-end',
  ])
  assert.deepEqual(draft, {
    content: 'I look.',
    reasoning: [{ text: 'Let me see.', meta: { signature: 'x' } }],
    calls: [CALL],
    finish: 'tool-calls',
    usage: USAGE,
  })
})

test('followStep() keeps the metadata of hidden thinking', async () => {
  const { told, draft } = await follow([
    { type: 'thinking-end', meta: { redacted: 'one' } },
    { type: 'thinking', delta: 'shown' },
    { type: 'thinking-end' },
    { type: 'thinking-end', meta: { redacted: 'two' } },
    { type: 'text', delta: 'so' },
  ])
  assert.deepEqual(draft.reasoning, [
    { text: '', meta: { redacted: 'one' } },
    { text: 'shown' },
    { text: '', meta: { redacted: 'two' } },
  ])
  assert.deepEqual(told.map(shown), [
    'thinking-start',
    'shown',
    'thinking-end',
    'text-start',
    'so',
    'text-end',
  ])
})

test('followStep() passes retries and notices through', async () => {
  const { told } = await follow([
    { type: 'notice', message: 'this is the demo' },
    { type: 'text', delta: 'x' },
  ])
  assert.deepEqual(told.map(shown), ['notice', 'text-start', 'x', 'text-end'])
})

test('followStep() closes open blocks when the stream breaks, and keeps the draft', async () => {
  const draft = emptyDraft()
  const events: AgentEvent[] = []
  const broken = async function* (): AsyncGenerator<ModelEvent> {
    yield { type: 'text', delta: 'half' }
    throw new Error('cut')
  }
  await assert.rejects(async () => {
    for await (const event of followStep(broken(), 'crab', draft)) events.push(event)
  }, /cut/)
  assert.deepEqual(events.map(shown), ['text-start', 'half', 'text-end'])
  assert.equal(draft.content, 'half')
  assert.equal(draft.finish, undefined)
})

test('followStep() opens and closes alternately, and loses nothing, for any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(modelEvent), async (events) => {
      const { told, draft } = await follow(events)
      assertPaired(told)
      const deltas = (type: string) =>
        told.map((event) => (event.type === type && 'delta' in event ? event.delta : '')).join('')
      assert.equal(deltas('text'), joined(events, 'text'))
      assert.equal(deltas('thinking'), joined(events, 'thinking'))
      assert.equal(draft.content, joined(events, 'text'))
      assert.equal(draft.reasoning.map(({ text }) => text).join(''), joined(events, 'thinking'))
      const metas = events.flatMap((event) => (event.type === 'thinking-end' && event.meta) || [])
      assert.deepEqual(
        draft.reasoning.flatMap(({ meta }) => meta ?? []),
        metas,
      )
      assert.equal(draft.calls.length, events.filter(({ type }) => type === 'tool-call').length)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('toAssistantMessage() omits empty keys', () => {
  const draft: Draft = { ...emptyDraft(), content: 'hi' }
  assert.deepEqual(toAssistantMessage(draft, undefined), { role: 'assistant', content: 'hi' })
  assert.deepEqual(toAssistantMessage({ ...draft, calls: [CALL], reasoning: [{ text: 'r' }] }, 'critic'), {
    role: 'assistant',
    content: 'hi',
    reasoning: [{ text: 'r' }],
    tool_calls: [CALL],
    agent: 'critic',
  })
})

async function follow(events: readonly ModelEvent[]): Promise<{ told: AgentEvent[]; draft: Draft }> {
  const draft = emptyDraft()
  const stream = async function* () {
    yield* events
  }
  const followed = await Array.fromAsync(followStep(stream(), 'crab', draft))
  return { told: followed, draft }
}

/**
 * Asserts that deltas occur only between their own start and end, and that blocks never overlap or stay open.
 */
function assertPaired(told: readonly AgentEvent[]): void {
  let open = ''
  for (const { type } of told) {
    if (type === 'text' || type === 'thinking') assert.equal(open, type)
    if (type.endsWith('-start')) {
      assert.equal(open, '')
      open = type.replace('-start', '')
    }
    if (type.endsWith('-end')) {
      assert.equal(`${open}-end`, type)
      open = ''
    }
  }
  assert.equal(open, '')
}

function shown(event: AgentEvent): string {
  return 'delta' in event ? event.delta : event.type
}

function joined(events: readonly ModelEvent[], type: 'text' | 'thinking'): string {
  return events.map((event) => (event.type === type && 'delta' in event ? event.delta : '')).join('')
}

const delta = fc.constantFrom('a', 'b ', '\n', '')
const modelEvent: fc.Arbitrary<ModelEvent> = fc.oneof(
  delta.map((text) => ({ type: 'text' as const, delta: text })),
  delta.map((text) => ({ type: 'thinking' as const, delta: text })),
  fc.integer().map((signature) => ({ type: 'thinking-end' as const, meta: { signature } })),
  fc.constant({ type: 'thinking-end' as const }),
  fc.constant({ type: 'tool-call' as const, call: CALL }),
  fc.constant({ type: 'notice' as const, message: 'n' }),
  fc.constant({ type: 'finish' as const, reason: 'stop' as const, usage: undefined }),
)
