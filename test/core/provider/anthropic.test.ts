import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Message } from '../../../src/core/base/message.ts'
import type { ModelEndpoint } from '../../../src/core/provider/endpoint.ts'
import { callEndpoint } from '../../../src/core/provider/source.ts'
import type { ModelRequest } from '../../../src/core/provider/types.ts'
import { collect, endpointAt, joinText, modelRequest, READ_TOOL } from '../../support/model-calls.ts'
import { type ModelServer, startModelServer } from '../../support/model-server.ts'

const NEVER = new AbortController().signal
const MODEL = 'claude-sonnet-5-5'
const CACHED = { cache_control: { type: 'ephemeral' } }
const IMAGE = { media_type: 'image/png', data: 'iVBORw0KGgo=' }
const SCHEMA = {
  type: 'object',
  properties: { ok: { type: 'boolean' } },
  required: ['ok'],
  additionalProperties: false,
}

test('streamAnthropic() sends a minimal body, with cache marks on the history', async () => {
  const { body, headers, path } = await sent({
    system: 'Be brief.',
    maxOutputTokens: 100,
    tools: [READ_TOOL],
  })
  assert.deepEqual(body, {
    model: MODEL,
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be brief.', ...CACHED }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', ...CACHED }] }],
    tools: [
      { name: 'read', description: READ_TOOL.description, input_schema: READ_TOOL.parameters, ...CACHED },
    ],
    stream: true,
  })
  assert.equal(path, '/v1/messages')
  assert.equal(headers['x-api-key'], 'sk-secret-0123456789')
  assert.equal(headers['anthropic-version'], '2023-06-01')
})

test('streamAnthropic() marks the last two messages that are not the model’s, four marks in all', async () => {
  const { body } = await sent({
    system: 'Be brief.',
    tools: [READ_TOOL, READ_TOOL],
    messages: [...TURN, ...TURN],
  })
  assert.equal(JSON.stringify(body).match(/cache_control/g)?.length, 4)
  const messages = body['messages'] as { role: string; content: object[] }[]
  const marked = messages.map(({ content }) => 'cache_control' in content.at(-1)!)
  assert.deepEqual(
    messages.map(({ role }, at) => `${role}${marked[at] ? '*' : ''}`),
    ['user', 'assistant', 'user', 'assistant', 'user*', 'assistant', 'user*', 'assistant'],
  )
})

test('streamAnthropic() sends calls, results and errors', async () => {
  const { body } = await sent({ messages: TURN.slice(0, 4) })
  assert.deepEqual((body['messages'] as object[]).slice(1), [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Reading.' },
        { type: 'tool_use', id: '1', name: 'read', input: { path: 'a' } },
        { type: 'tool_use', id: '2', name: 'read', input: { rawInvalidInput: '{"path":' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: '1', content: 'A' },
        { type: 'tool_result', tool_use_id: '2', content: 'no such file', is_error: true, ...CACHED },
      ],
    },
  ])
})

test('"streamAnthropic() sends images in a user\'s message and in a tool\'s result"', async () => {
  const [question, assistant, result] = TURN
  const { body } = await sent({
    messages: [{ ...question!, attachments: [IMAGE] }, assistant!, { ...result!, attachments: [IMAGE] }],
  })
  const source = { type: 'base64', media_type: 'image/png', data: IMAGE.data }
  const [user, , tool] = body['messages'] as { content: { content?: object[] }[] }[]
  assert.deepEqual(user!.content[0], { type: 'image', source })
  assert.deepEqual(tool!.content[0]!.content, [
    { type: 'text', text: 'A' },
    { type: 'image', source },
  ])
})

test('streamAnthropic() yields thinking with its signature, which is sent back unchanged', async () => {
  const parts = [{ thinking: 'Let me see.', signature: 'c2lnbmVk' }, { redacted: 'ZGFyaw==' }, 'Yes.']
  await using server = await startModelServer([{ parts }, { parts: ['ok'] }])
  const events = await collect(call(server, { thinking: true }))
  assert.deepEqual(events.slice(0, 4), [
    { type: 'thinking', delta: 'Let me see.' },
    { type: 'thinking-end', meta: { anthropic: { signature: 'c2lnbmVk' } } },
    { type: 'thinking-end', meta: { anthropic: { redactedData: 'ZGFyaw==' } } },
    { type: 'text', delta: 'Yes.' },
  ])
  const reasoning = [
    { text: 'Let me see.', meta: { anthropic: { signature: 'c2lnbmVk' } } },
    { text: '', meta: { anthropic: { redactedData: 'ZGFyaw==' } } },
  ]
  await collect(
    call(server, {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'Yes.', reasoning },
        { role: 'user', content: 'Sure?' },
      ],
    }),
  )
  const [, assistant] = server.requests[1]!.json['messages'] as { content: object[] }[]
  assert.deepEqual(assistant!.content, [
    { type: 'thinking', thinking: 'Let me see.', signature: 'c2lnbmVk' },
    { type: 'redacted_thinking', data: 'ZGFyaw==' },
    { type: 'text', text: 'Yes.' },
  ])
})

test('streamAnthropic() drops thinking that has no signature', async () => {
  const { body } = await sent({
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'Yes.', reasoning: [{ text: 'unsigned' }] },
      { role: 'user', content: 'Sure?' },
    ],
  })
  assert.ok(!JSON.stringify(body).includes('unsigned'))
  assert.equal(body['thinking'], undefined)
})

test('streamAnthropic() lets the server drop thinking that no longer matches its conversation', async () => {
  const messages: Message[] = [
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      content: 'Yes.',
      reasoning: [{ text: 't', meta: { anthropic: { signature: 's' } } }],
    },
    { role: 'user', content: 'Sure?' },
  ]
  const { body, headers } = await sent({ messages })
  assert.deepEqual(body['thinking'], {
    type: 'adaptive',
    block_binding: { prefix_mismatch_behavior: 'drop_block' },
  })
  assert.match(String(headers['anthropic-beta']), /thinking-binding-controls-2026-08-01/)
  const older = await sent({ messages, model: 'claude-opus-5' })
  assert.equal(older.body['thinking'], undefined)
})

test('streamAnthropic() requests thinking in the way each model supports', async () => {
  const adaptive = await sent({ thinking: true })
  assert.deepEqual(adaptive.body['thinking'], { type: 'adaptive', display: 'summarized' })
  const budgeted = await sent({ thinking: true, model: 'claude-haiku-4-5' })
  const { type, budget_tokens: budget } = budgeted.body['thinking'] as { type: string; budget_tokens: number }
  assert.equal(type, 'enabled')
  assert.ok(budget >= 1024 && budget < Number(budgeted.body['max_tokens']), String(budget))
})

test('streamAnthropic() reads neither key nor address from the environment', async () => {
  const program = `await import(${JSON.stringify(import.meta.resolve('../../../src/core/provider/anthropic.ts'))})`
  const env = { ...process.env, ANTHROPIC_BASE_URL: '' }
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { env, stdio: 'inherit' })
  assert.deepEqual(await once(child, 'exit'), [0, null])
})

test('streamAnthropic() requests an answer with a schema', async () => {
  const { body } = await sent({ schema: SCHEMA })
  assert.deepEqual(body['output_config'], { format: { type: 'json_schema', schema: SCHEMA } })
})

test('streamAnthropic() yields an answer that came as a call of the schema’s tool as text', async () => {
  await using server = await startModelServer([{ parts: [{ call: '1', name: 'json', args: '{"ok":true}' }] }])
  const events = await collect(call(server, { schema: SCHEMA, model: 'claude-3-haiku-20240307' }))
  assert.equal(joinText(events), '{"ok":true}')
  const finish = events.at(-1)
  assert.equal(finish?.type === 'finish' && finish.reason, 'stop')
})

async function sent(request: Partial<ModelRequest>, more: Partial<ModelEndpoint> = {}) {
  await using server = await startModelServer([{ parts: ['ok'] }])
  await collect(call(server, request, more))
  const { json: body, headers, path } = server.requests[0]!
  return { body, headers, path }
}

function call(server: ModelServer, request: Partial<ModelRequest>, more: Partial<ModelEndpoint> = {}) {
  const endpoint = endpointAt(server.url, { kind: 'anthropic', ...more })
  return callEndpoint(() => endpoint, modelRequest({ model: MODEL, ...request }), NEVER)
}

const TURN: Message[] = [
  { role: 'user', content: 'Read a and b' },
  {
    role: 'assistant',
    content: 'Reading.',
    tool_calls: [
      { id: '1', name: 'read', arguments: '{"path":"a"}' },
      { id: '2', name: 'read', arguments: '{"path":' },
    ],
  },
  { role: 'tool', content: 'A', tool_call_id: '1', name: 'read' },
  { role: 'tool', content: 'no such file', tool_call_id: '2', name: 'read', is_error: true },
  { role: 'assistant', content: 'So it is.' },
]
