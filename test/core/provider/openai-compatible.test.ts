import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../../src/core/base/message.ts'
import type { ModelEndpoint } from '../../../src/core/provider/endpoint.ts'
import { httpFetch } from '../../../src/core/provider/http-fetch.ts'
import { streamOpenAICompatible } from '../../../src/core/provider/openai-compatible.ts'
import { callEndpoint } from '../../../src/core/provider/source.ts'
import type { ModelRequest } from '../../../src/core/provider/types.ts'
import { collect, collectFailure, endpointAt, modelRequest, READ_TOOL } from '../../support/model-calls.ts'
import { type ModelServer, startModelServer } from '../../support/model-server.ts'

const NEVER = new AbortController().signal
const IMAGE = { media_type: 'image/png', data: 'iVBORw0KGgo=', name: 'dot.png' }
const SCHEMA = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }

test('streamOpenAICompatible() sends a minimal body', async () => {
  const { body, headers, path } = await sent({ system: 'Be brief.', maxOutputTokens: 100 })
  assert.deepEqual(body, {
    model: 'scripted',
    max_tokens: 100,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ],
    stream: true,
    stream_options: { include_usage: true },
  })
  assert.equal(path, '/v1/chat/completions')
  assert.equal(headers.authorization, 'Bearer sk-secret-0123456789')
  assert.match(headers['user-agent'] ?? '', /^crabtalk\/\d/)
})

test('streamOpenAICompatible() sends no authorization without a key', async () => {
  const { headers } = await sent({}, { apiKey: undefined })
  assert.equal(headers.authorization, undefined)
})

test('streamOpenAICompatible() sends tools and the tool choice', async () => {
  const { body } = await sent({ tools: [READ_TOOL], toolChoice: { tool: 'read' } })
  const { name, description, parameters } = READ_TOOL
  assert.deepEqual(body['tools'], [{ type: 'function', function: { name, description, parameters } }])
  assert.deepEqual(body['tool_choice'], { type: 'function', function: { name: 'read' } })
})

test('streamOpenAICompatible() sends calls and results in the order of the calls', async () => {
  const { body } = await sent({ messages: turnWith('{"path":"a"}', '') })
  assert.deepEqual(body['messages'], [
    { role: 'user', content: 'Read a and b' },
    {
      role: 'assistant',
      content: 'Reading.',
      tool_calls: [
        { id: '1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } },
        { id: '2', type: 'function', function: { name: 'read', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: '1', content: 'A' },
    { role: 'tool', tool_call_id: '2', content: 'no such file' },
    { role: 'user', content: 'And now?' },
  ])
})

test('streamOpenAICompatible() wraps arguments that are not a JSON object, so that the conversation stays usable', async () => {
  const { body } = await sent({ messages: turnWith('{"path":', '[1]') })
  const [, assistant] = body['messages'] as { tool_calls: { function: { arguments: string } }[] }[]
  assert.deepEqual(
    assistant!.tool_calls.map((call) => JSON.parse(call.function.arguments)),
    [{ rawInvalidInput: '{"path":' }, { rawInvalidInput: '[1]' }],
  )
})

test('streamOpenAICompatible() sends images before the text', async () => {
  const { body } = await sent({ messages: [{ role: 'user', content: 'What is it?', attachments: [IMAGE] }] })
  assert.deepEqual(body['messages'], [
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        { type: 'text', text: 'What is it?' },
      ],
    },
  ])
})

test('"streamOpenAICompatible() sends a tool\'s image after the results"', async () => {
  const [question, assistant, first, second] = turnWith('{}', '{}')
  const { body } = await sent({
    messages: [question!, assistant!, { ...first!, attachments: [IMAGE] }, second!],
  })
  const [, , ...rest] = body['messages'] as Message[]
  assert.deepEqual(
    rest.map(({ role }) => role),
    ['tool', 'tool', 'user'],
  )
  assert.ok(JSON.stringify(rest[2]).includes(IMAGE.data))
})

test('streamOpenAICompatible() fails with invalid on an attachment the wire cannot carry', async () => {
  await using server = await startModelServer([])
  const attachments = [{ media_type: 'application/zip', data: 'UEsDBA==' }]
  const { error } = await collectFailure(
    call(server, { messages: [{ role: 'user', content: 'Unpack', attachments }] }),
  )
  assert.equal(error.kind, 'invalid')
  assert.match(error.message, /application\/zip/)
})

test('"streamOpenAICompatible() sends back the thinking of this turn\'s steps only"', async () => {
  const thought = (text: string): Message => ({ role: 'assistant', content: text, reasoning: [{ text }] })
  const messages: Message[] = [
    { role: 'user', content: 'one' },
    thought('old'),
    { role: 'user', content: 'two' },
    thought('new'),
  ]
  const { body } = await sent({ messages })
  assert.deepEqual((body['messages'] as object[]).slice(1), [
    { role: 'assistant', content: 'old' },
    { role: 'user', content: 'two' },
    { role: 'assistant', content: 'new', reasoning_content: 'new' },
  ])
  const strict = await sent({ messages }, { kind: 'openai' })
  assert.ok(!JSON.stringify(strict.body).includes('reasoning_content'))
})

test('"streamOpenAICompatible() sends no other provider\'s thinking"', async () => {
  const reasoning = [{ text: 'signed', meta: { anthropic: { signature: 's' } } }]
  const { body } = await sent({
    messages: [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two', reasoning },
    ],
  })
  assert.ok(!JSON.stringify(body).includes('signed'))
})

test('streamOpenAICompatible() yields thinking, and sends the signature of a call back with the call', async () => {
  const parts = [{ thinking: 'hm' }, { call: '1', name: 'read', args: '{}', signature: 'c2ln' }]
  await using server = await startModelServer([{ parts }, { parts: ['ok'] }])
  const [thinking, end, event] = await collect(call(server, { tools: [READ_TOOL] }))
  assert.deepEqual(thinking, { type: 'thinking', delta: 'hm' })
  assert.deepEqual(end, { type: 'thinking-end' })
  assert.ok(event?.type === 'tool-call')
  await collect(
    call(server, {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: '', tool_calls: [event.call] },
        { role: 'tool', content: 'A', tool_call_id: '1', name: 'read' },
      ],
    }),
  )
  const [, assistant] = server.requests[1]!.json['messages'] as { tool_calls: object[] }[]
  assert.deepEqual(assistant!.tool_calls, [
    {
      id: '1',
      type: 'function',
      function: { name: 'read', arguments: '{}' },
      extra_content: { google: { thought_signature: 'c2ln' } },
    },
  ])
})

test('streamOpenAICompatible() requests thinking and a schema', async () => {
  const { body } = await sent({ thinking: true, schema: SCHEMA })
  assert.equal(body['reasoning_effort'], 'medium')
  assert.deepEqual(body['response_format'], {
    type: 'json_schema',
    json_schema: { schema: SCHEMA, strict: false, name: 'response' },
  })
})

test('"streamOpenAICompatible() uses OpenAI\'s own dialect for kind openai"', async () => {
  const { body } = await sent(
    { model: 'gpt-6-sol', tools: [READ_TOOL], maxOutputTokens: 9 },
    { kind: 'openai' },
  )
  assert.equal(body['max_completion_tokens'], 9)
  assert.equal(body['max_tokens'], undefined)
  assert.equal(body['reasoning_effort'], 'none')
  const plain = await sent({ model: 'gpt-6-sol', thinking: true }, { kind: 'openai' })
  assert.equal(plain.body['reasoning_effort'], 'medium')
  const older = await sent({ model: 'gpt-4.1', tools: [READ_TOOL] }, { kind: 'openai' })
  assert.equal(older.body['reasoning_effort'], undefined)
})

test('streamOpenAICompatible() describes the schema to DeepSeek in text, as it accepts none', async () => {
  await using server = await startModelServer([{ parts: ['{"ok":true}'] }])
  const fetch = httpFetch({ firstByteMs: 20_000, idleMs: 20_000 })
  const endpoint = endpointAt('https://api.deepseek.com/v1')
  const detour: typeof fetch = (_, init) => fetch(`${server.url}/chat/completions`, init)
  await collect(
    streamOpenAICompatible({ endpoint, request: modelRequest({ schema: SCHEMA }), fetch: detour }, NEVER),
  )
  const { response_format: format, messages } = server.requests[0]!.json
  assert.deepEqual(format, { type: 'json_object' })
  const [system] = messages as Message[]
  assert.equal(system?.role, 'system')
  assert.ok(system?.content.endsWith(JSON.stringify(SCHEMA)))
})

async function sent(request: Partial<ModelRequest>, more: Partial<ModelEndpoint> = {}) {
  await using server = await startModelServer([{ parts: ['ok'] }])
  await collect(call(server, request, more))
  const { json: body, headers, path } = server.requests[0]!
  return { body, headers, path }
}

function call(server: ModelServer, request: Partial<ModelRequest>, more: Partial<ModelEndpoint> = {}) {
  return callEndpoint(() => endpointAt(server.url, more), modelRequest(request), NEVER)
}

/** A turn with two calls with these arguments, followed by a question. */
function turnWith(first: string, second: string): Message[] {
  return [
    { role: 'user', content: 'Read a and b' },
    {
      role: 'assistant',
      content: 'Reading.',
      tool_calls: [
        { id: '1', name: 'read', arguments: first },
        { id: '2', name: 'read', arguments: second },
      ],
    },
    { role: 'tool', content: 'A', tool_call_id: '1', name: 'read' },
    { role: 'tool', content: 'no such file', tool_call_id: '2', name: 'read', is_error: true },
    { role: 'user', content: 'And now?' },
  ]
}
