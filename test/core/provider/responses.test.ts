import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../../src/core/base/message.ts'
import type { ModelEndpoint } from '../../../src/core/provider/endpoint.ts'
import { callEndpoint } from '../../../src/core/provider/source.ts'
import type { ModelRequest } from '../../../src/core/provider/types.ts'
import {
  collect,
  collectFailure,
  endpointAt,
  joinText,
  modelRequest,
  READ_TOOL,
} from '../../support/model-calls.ts'
import { type ModelServer, startModelServer } from '../../support/model-server.ts'

const NEVER = new AbortController().signal
const ASK: Message = { role: 'user', content: 'hi' }
const TOOLS = { model: 'gpt-6-sol', tools: [READ_TOOL] }

test('streamResponses() thinks with tools, and stores nothing at OpenAI', async () => {
  await using server = await startModelServer([{ parts: ['yes'] }])
  await collect(call(server, { ...TOOLS, thinking: true }))
  const { path, json } = server.requests[0]!
  assert.equal(path, '/v1/responses')
  assert.equal(json['store'], false)
  assert.deepEqual(json['include'], ['reasoning.encrypted_content'])
  assert.deepEqual(json['reasoning'], { effort: 'medium', summary: 'auto' })
  const [tool] = json['tools'] as Record<string, unknown>[]
  assert.deepEqual(tool, { type: 'function', ...READ_TOOL, strict: false })
})

test('streamResponses() leaves thinking to the server unless it is requested', async () => {
  await using server = await startModelServer([{ parts: ['yes'] }])
  await collect(call(server, TOOLS))
  assert.equal(server.requests[0]!.json['reasoning'], undefined)
  assert.deepEqual(server.requests[0]!.json['include'], ['reasoning.encrypted_content'])
})

test('streamResponses() sends a thinking item back in one piece, only within its turn, only if it is complete', async () => {
  await using server = await startModelServer(() => ({ parts: ['yes'] }))
  const thought = (text: string, itemId: string, content?: string) => ({
    text,
    meta: { openai: { itemId, reasoningEncryptedContent: content ?? null } },
  })
  const turn = (reasoning: Message['reasoning']): Message[] => [
    ASK,
    {
      role: 'assistant',
      content: '',
      reasoning: reasoning!,
      tool_calls: [{ id: 'a', name: 'read', arguments: '{}' }],
    },
    { role: 'tool', content: 'one', tool_call_id: 'a', name: 'read' },
  ]
  const messages = turn([
    thought('First.', 'rs_1'),
    thought('Then.', 'rs_1', 'c2Vj'),
    thought('Lost.', 'rs_2'),
  ])
  await collect(call(server, { ...TOOLS, messages }))
  await collect(
    call(server, { ...TOOLS, messages: [...messages, { role: 'assistant', content: 'yes' }, ASK] }),
  )
  const thoughts = server.requests.map(({ json }) =>
    (json['input'] as Record<string, unknown>[]).filter(({ type }) => type === 'reasoning'),
  )
  const summary = ['First.', 'Then.'].map((text) => ({ type: 'summary_text', text }))
  assert.deepEqual(thoughts, [[{ type: 'reasoning', id: 'rs_1', encrypted_content: 'c2Vj', summary }], []])
})

test('streamResponses() requests a schema without OpenAI’s strict rules', async () => {
  await using server = await startModelServer([{ parts: ['{}'] }])
  await collect(call(server, { schema: { type: 'object', properties: { a: { type: 'string' } } } }))
  const { format } = server.requests[0]!.json['text'] as { format: Record<string, unknown> }
  assert.deepEqual([format['type'], format['strict']], ['json_schema', false])
})

test('streamResponses() keeps OpenAI’s and Azure’s thinking separate', async () => {
  await using server = await startModelServer(() => ({ parts: ['yes'] }))
  const meta = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'c2Vj' } }
  const messages: Message[] = [
    ASK,
    {
      role: 'assistant',
      content: '',
      reasoning: [{ text: 'x', meta }],
      tool_calls: [{ id: 'a', name: 'read', arguments: '{}' }],
    },
    { role: 'tool', content: 'one', tool_call_id: 'a', name: 'read' },
  ]
  await collect(call(server, { ...TOOLS, messages }, { kind: 'azure' }))
  assert.doesNotMatch(server.requests[0]!.text, /c2Vj/)
  await collect(call(server, { ...TOOLS, messages }))
  assert.match(server.requests[1]!.text, /c2Vj/)
})

test('streamResponses() lets a deployment of any name think', async () => {
  await using server = await startModelServer(() => ({ parts: ['yes'] }))
  await collect(call(server, { model: 'our-model', thinking: true }, { kind: 'azure' }))
  assert.deepEqual(server.requests[0]!.json['reasoning'], { effort: 'medium', summary: 'auto' })
  await collect(call(server, { model: 'our-model' }, { kind: 'azure' }))
  assert.equal(server.requests[1]!.json['include'], undefined)
})

test('streamResponses() reports a refusal as refused, and a failed response as failed', async () => {
  const refusal = (type: string, fields: object) =>
    `data: ${JSON.stringify({ type, output_index: 0, item_id: 'm', content_index: 0, ...fields })}\n\n`
  const raw =
    refusal('response.output_item.added', {
      item: { id: 'm', type: 'message', role: 'assistant', content: [] },
    }) +
    refusal('response.refusal.delta', { delta: 'I will not.' }) +
    refusal('response.refusal.done', { refusal: 'I will not.' })
  await using server = await startModelServer([
    { raw, end: 'finish' },
    { raw: failed('rate_limit_exceeded'), end: 'unfinished' },
  ])
  const events = await collect(call(server))
  assert.equal(joinText(events), 'I will not.')
  assert.deepEqual(events.at(-1), { type: 'finish', reason: 'refused', usage: undefined })
  const { error } = await collectFailure(call(server))
  assert.deepEqual([error.kind, error.message], ['throttled', 'Cannot call scripted (test): Too fast (429)'])
})

test('streamResponses() says what to do when a server does not know Responses', async () => {
  await using server = await startModelServer([{ status: 404 }])
  const { error } = await collectFailure(call(server))
  assert.equal(error.kind, 'config')
  assert.match(error.hint ?? '', /whether the server knows \/responses/)
})

test('callEndpoint() uses chat completions with a server that is not OpenAI’s, including its older forms', async () => {
  await using server = await startModelServer([{ parts: ['yes'] }])
  const endpoint = endpointAt(server.url, { kind: 'openai' })
  await collect(
    callEndpoint(() => endpoint, modelRequest({ ...TOOLS, thinking: true, maxOutputTokens: 9 }), NEVER),
  )
  const { path, json } = server.requests[0]!
  assert.equal(path, '/v1/chat/completions')
  assert.deepEqual([json['reasoning_effort'], json['max_completion_tokens']], ['none', 9])
})

function failed(code: string): string {
  const response = { id: 'r', status: 'failed', error: { code, message: 'Too fast' } }
  return `data: ${JSON.stringify({ type: 'response.failed', sequence_number: 3, response })}\n\n`
}

function call(server: ModelServer, request: Partial<ModelRequest> = {}, more: Partial<ModelEndpoint> = {}) {
  const endpoint = endpointAt(server.url, { kind: 'openai', wire: 'responses', ...more })
  return callEndpoint(() => endpoint, modelRequest(request), NEVER)
}
