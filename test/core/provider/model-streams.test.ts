import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJsonEventStream, safeParseJSON, zodSchema } from '@ai-sdk/provider-utils'
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { z } from 'zod/v4'
import {
  isTextChunk,
  parseKnownEvent,
  readJsonEvents,
  transformEvents,
} from '../../../src/core/provider/model-streams.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const schema = zodSchema(z.object({ text: z.string() }))
const parse = (text: string) => safeParseJSON({ text, schema })

/** Events, comments, blank lines and broken JSON, in all forms that servers send. */
const eventText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme' }).map((text) => `data: ${JSON.stringify({ text })}\n\n`),
      fc.constantFrom(
        ...['data: {"text":1}\n\n', 'data: {broken\n\n', ': a comment\n\n', 'data: [DONE]\n\n', '\n'],
        ...['event: x\r\ndata: {"text":\r\ndata: "two lines"}\r\n\r\n', 'data:{"text":"no blank"}\n\n'],
      ),
    ),
  )
  .map((events) => events.join(''))

test('readJsonEvents() matches the package, for any division of the bytes', async () => {
  await fc.assert(
    fc.asyncProperty(eventText, fc.integer({ min: 1, max: 40 }), async (text, size) => {
      const theirs = await Array.fromAsync(parseJsonEventStream({ stream: streamBytes(text, size), schema }))
      const ours = await Array.fromAsync(readJsonEvents(streamBytes(text, size), createParser, parse))
      assert.deepEqual(ours.map(toComparable), theirs.map(toComparable))
    }),
    { numRuns: propertyRuns(600, 60) },
  )
})

test('readJsonEvents() delivers what arrived before an error, then fails', async () => {
  const pieces: (() => Uint8Array)[] = [
    () => Buffer.from('data: {"text":"a"}\n\ndata: {"text":"b"}\n\n'),
    () => assert.fail('cut'),
  ]
  const body = new ReadableStream<Uint8Array>(
    { pull: (controller) => controller.enqueue(pieces.shift()!()) },
    { highWaterMark: 0 },
  )
  const reader = readJsonEvents(body, createParser, parse).getReader()
  for (const text of ['a', 'b']) {
    const { value } = await reader.read()
    assert.deepEqual(value?.success && value.value, { text })
  }
  await assert.rejects(reader.read(), /cut/)
})

test('transformEvents() behaves like a pipe through a TransformStream', async () => {
  const transformer = () => ({
    start: (sink: { enqueue(text: string): void }) => sink.enqueue('start'),
    transform(number: number, sink: { enqueue(text: string): void }) {
      for (let i = 0; i < number; i++) sink.enqueue(`${number}.${i}`)
    },
    flush: (sink: { enqueue(text: string): void }) => sink.enqueue('flush'),
  })
  const numbers = [0, 2, 0, 0, 1, 3, 0]
  const theirs = ReadableStream.from(numbers).pipeThrough(new TransformStream(transformer()))
  const ours = transformEvents(ReadableStream.from(numbers))(transformer())
  assert.deepEqual(await Array.fromAsync(ours), await Array.fromAsync(theirs))
})

test('transformEvents() cancels its source when the reader leaves or the transformer fails', async () => {
  for (const leave of ['cancel', 'fail'] as const) {
    let reason: unknown
    const source = new ReadableStream<number>({
      pull: (controller) => controller.enqueue(1),
      cancel: (why) => {
        reason = why
      },
    })
    const reader = transformEvents(source)({
      transform(number: number, sink: { enqueue(number: number): void }) {
        if (leave === 'fail') throw new Error('fail')
        sink.enqueue(number)
      },
    }).getReader()
    if (leave === 'fail') await assert.rejects(reader.read(), /fail/)
    else await reader.read().then(() => reader.cancel('cancel'))
    assert.equal(reason instanceof Error ? reason.message : reason, leave)
  }
})

test('isTextChunk() recognizes chunks with only text or thinking', () => {
  const chunk = (delta: object, more: object = {}) => ({
    id: 'a',
    model: 'm',
    created: 1,
    choices: [{ index: 0, delta, finish_reason: null }],
    ...more,
  })
  const known = [
    chunk({ role: 'assistant', content: 'Hi' }),
    chunk({ reasoning_content: 'Hm', content: null }),
    chunk({ content: '' }, { usage: null, object: 'chat.completion.chunk' }),
    { choices: [{ finish_reason: 'stop' }] },
    { choices: [] },
  ]
  const others = [
    chunk({ tool_calls: [] }),
    chunk({ content: [{ type: 'text', text: 'Hi' }] }),
    chunk({ content: 1 }),
    chunk({ refusal: 'no' }),
    chunk({ role: 'user', content: 'Hi' }),
    chunk({ content: 'Hi' }, { id: 1 }),
    chunk({}, { usage: { prompt_tokens: 1 } }),
    ...[
      { error: { message: 'no' } },
      { choices: [1] },
      { choices: [{ finish_reason: 1 }] },
      null,
      [],
      'text',
    ],
  ]
  for (const one of known) assert.equal(isTextChunk(one), true, JSON.stringify(one))
  for (const one of others) assert.equal(isTextChunk(one), false, JSON.stringify(one))
})

test('parseKnownEvent() leaves unknown events and invalid JSON to the package', () => {
  const value = { choices: [] }
  const text = JSON.stringify(value)
  assert.deepEqual(parseKnownEvent(text, JSON.parse, isTextChunk), { success: true, value, rawValue: value })
  assert.equal(parseKnownEvent('{"choices":1}', JSON.parse, isTextChunk), undefined)
  assert.equal(parseKnownEvent('{', JSON.parse, isTextChunk), undefined)
  assert.equal(parseKnownEvent(text, JSON.parse, undefined), undefined)
})

function streamBytes(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    Uint8Array.from(bytes.subarray(at * size, (at + 1) * size)),
  )
  return ReadableStream.from(pieces)
}

function toComparable(result: { success: boolean; value?: unknown; error?: unknown; rawValue?: unknown }) {
  const { success, value, error, rawValue } = result
  return { success, value, rawValue, error: error instanceof Error ? error.name : error }
}
