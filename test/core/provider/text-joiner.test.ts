import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { readJsonEvents } from '../../../src/core/provider/model-streams.ts'
import { TextJoiner } from '../../../src/core/provider/text-joiner.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const TEXT = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('"', '\\', '","role":"user', '\n', '\\"', '"}', '\u2028', '"content":"x"', '\ud800'),
)

/** Creates the JSON of a chunk as servers write it, with its text as JSON. */
const chunk = (text: string, more: { delta?: string; choice?: string; chunk?: string } = {}) =>
  `{"id":"a","model":"m",${more.chunk ?? ''}"choices":[{"index":0,"delta":{${more.delta ?? ''}"content":${text}},` +
  `"finish_reason":${more.choice ?? 'null'}}]}`

/** Escapes every character of a JSON string, as some servers do with those that are not ASCII. */
const escaped = (text: string) =>
  `"${Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`

const CHUNK = fc.oneof(
  { weight: 8, arbitrary: TEXT.map((text) => chunk(JSON.stringify(text))) },
  { weight: 2, arbitrary: TEXT.map((text) => chunk(escaped(text))) },
  { weight: 2, arbitrary: TEXT.map((text) => chunk(JSON.stringify(text), { delta: '"role":"assistant",' })) },
  TEXT.map((text) => chunk(JSON.stringify(text), { choice: '"stop"' })),
  TEXT.map((text) => chunk(JSON.stringify(text), { delta: '"content":"first",' })),
  TEXT.map((text) => chunk(JSON.stringify(text), { delta: '"reasoning_content":"hm",' })),
  fc.nat(99).map((pad) => chunk('"padded"', { chunk: `"obfuscation":"${pad}",` })),
  fc.constantFrom(
    ...[chunk('null'), chunk('"a'), chunk('1'), '{"choices":[]}', '{"content":"no chunk"}', '"content":""'],
    chunk('"called"', { delta: '"tool_calls":[{"index":0}],' }),
    chunk('"a","x":"b"'),
    chunk('"two"},"finish_reason":null},{"delta":{"content":"choices"'),
  ),
)

test('TextJoiner joins only chunks with nothing but text, and changes no text', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(CHUNK, { maxLength: 30 }),
      fc.integer({ min: 1, max: 3000 }),
      async (data, size) => {
        const body = Buffer.from(data.map((json) => `data: ${json}\n\n`).join(''))
        const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, i) =>
          body.subarray(i * size, (i + 1) * size),
        )
        const joiner = new TextJoiner(JSON.parse)
        const stream = ReadableStream.from(pieces) as ReadableStream<Uint8Array>
        const events = await Array.fromAsync(readJsonEvents(stream, createParser, parse, joiner))
        assert.deepEqual(joinTexts(events), joinTexts(data.map(parse)))
      },
    ),
    { numRuns: propertyRuns(300) },
  )
})

test('TextJoiner parses only the text of a chunk that differs from the one before in nothing else', async () => {
  let parsed = 0
  const counting = (text: string) => {
    parsed++
    return parse(text)
  }
  const body = Array.from({ length: 100 }, (_, i) => `data: ${chunk(JSON.stringify(`${i} `))}\n\n`).join('')
  const events = await Array.fromAsync(
    readJsonEvents(
      ReadableStream.from([Buffer.from(body)]) as ReadableStream<Uint8Array>,
      createParser,
      counting,
      new TextJoiner(JSON.parse),
    ),
  )
  assert.equal(parsed, 1)
  assert.deepEqual(joinTexts(events), [Array.from({ length: 100 }, (_, i) => `${i} `).join('')])
})

test('TextJoiner joins texts that are too long for a regular expression', async () => {
  const texts = ['x'.repeat(8 << 20), 'the end'].map((text) => chunk(`"${text}"`))
  const joiner = new TextJoiner(JSON.parse)
  for (const data of texts) assert.equal(joiner.join(parse(data), data), data === texts[1])
})

function parse(text: string): { success: boolean; value?: unknown } {
  try {
    return { success: true, value: JSON.parse(text) }
  } catch {
    return { success: false, value: text }
  }
}

/** Returns the texts of chunks that have nothing else, joined, and every other event as it is. */
function joinTexts(events: readonly { success: boolean; value?: unknown }[]): unknown[] {
  const all: unknown[] = []
  for (const { value } of events) {
    const text = toText(value)
    if (text !== undefined && typeof all.at(-1) === 'string') all.push(`${all.pop()}${text}`)
    else all.push(text ?? { value })
  }
  return all
}

function toText(value: unknown): string | undefined {
  const { choices = [] } = Object(value)
  const [choice] = choices
  const { content, ...others } = Object(choice?.delta)
  const isAlone = choices.length === 1 && choice.finish_reason === null && others.role !== 'user'
  const hasOthers = Object.keys(others).some((name) => name !== 'role')
  return isAlone && !hasOthers && typeof content === 'string' ? content : undefined
}
