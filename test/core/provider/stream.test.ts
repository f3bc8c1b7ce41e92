import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { callEndpoint } from '../../../src/core/provider/source.ts'
import { streamModel } from '../../../src/core/provider/stream.ts'
import type { ModelEvent } from '../../../src/core/provider/types.ts'
import { collect, collectFailure, endpointAt, joinText, modelRequest } from '../../support/model-calls.ts'
import { startModelServer } from '../../support/model-server.ts'
import { chatCompletionWriter } from '../../support/model-wire.ts'

const NEVER = new AbortController().signal
const CHUNKS = 1000

test('streamModel() joins chunks that are read together into one delta', async () => {
  const { part } = chatCompletionWriter('loopback')
  const words = Array.from({ length: CHUNKS }, (_, at) => `word${at} `)
  await using server = await startModelServer([{ raw: words.map(part).join('') }])
  const events = await collect(callEndpoint(() => endpointAt(server.url), modelRequest(), NEVER))
  assert.equal(joinText(events), words.join(''))
  assert.ok(events.length < CHUNKS / 10, `${events.length} events of ${CHUNKS} chunks`)
})

test('streamModel() keeps thinking and text separate, and the order of everything', async () => {
  const events = await collect(
    streamParts([
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Let ' },
      { type: 'reasoning-delta', id: 'r', delta: 'me' },
      { type: 'reasoning-end', id: 'r' },
      { type: 'text-delta', id: 't', delta: 'Hi ' },
      { type: 'text-delta', id: 't', delta: 'there' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'read', input: '{}' },
      { type: 'text-delta', id: 't', delta: '.' },
      FINISH,
    ]),
  )
  assert.deepEqual(events.slice(0, -1), [
    { type: 'thinking', delta: 'Let me' },
    { type: 'thinking-end' },
    { type: 'text', delta: 'Hi there' },
    { type: 'tool-call', call: { id: 'a', name: 'read', arguments: '{}' } },
    { type: 'text', delta: '.' },
  ])
})

test('streamModel() yields what came before an error', async () => {
  const failing = [
    { type: 'text-delta', id: 't', delta: 'Half ' },
    { type: 'text-delta', id: 't', delta: 'an answer' },
    { type: 'error', error: new Error('overloaded') },
  ] as const
  for (const parts of [failing, failing.slice(0, -1)]) {
    const { events } = await collectFailure(streamParts(parts))
    assert.deepEqual(events, [{ type: 'text', delta: 'Half an answer' }])
  }
})

const FINISH: LanguageModelV4StreamPart = {
  type: 'finish',
  finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
}

/** Returns the events for these parts; without a finish they just end. */
function streamParts(parts: readonly LanguageModelV4StreamPart[]): AsyncIterable<ModelEvent> {
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'parts',
    modelId: 'parts',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('is not asked for')),
    doStream: async () => ({
      stream: ReadableStream.from(parts) as ReadableStream<LanguageModelV4StreamPart>,
    }),
  }
  const place = { endpoint: endpointAt('http://127.0.0.1:9/v1'), model: 'parts' }
  return streamModel({ model, options: { prompt: [] }, target: place }, NEVER)
}
