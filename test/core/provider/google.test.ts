import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../../src/core/base/message.ts'
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
const MODEL = 'gemini-3.8-flash'

test('streamGemini() puts the model into the path and requests a stream of events', async () => {
  await using server = await startModelServer([{ parts: ['yes'] }])
  await collect(call(server, { system: 'Be brief.' }))
  const { path, json } = server.requests[0]!
  assert.equal(path, `/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`)
  assert.deepEqual(json['systemInstruction'], { parts: [{ text: 'Be brief.' }] })
})

test('streamGemini() assigns ids to calls without one', async () => {
  const chunk = {
    candidates: [{ content: { parts: [{ functionCall: { name: 'read', args: { path: 'a' } } }] } }],
  }
  const raw = `data: ${JSON.stringify(chunk)}\n\n`.repeat(2)
  await using server = await startModelServer([{ raw }])
  const calls = (await collect(call(server))).flatMap((event) =>
    event.type === 'tool-call' ? event.call : [],
  )
  assert.equal(calls.length, 2)
  for (const { id } of calls) assert.match(id, /^call_\w{10}$/)
  assert.notEqual(calls[0]!.id, calls[1]!.id)
})

test('streamGemini() returns signed calls unchanged, and substitutes a missing signature', async () => {
  const turn = (meta: object): Message[] => [
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'a', name: 'read', arguments: '{"path":"x"}', ...meta }],
    },
    { role: 'tool', content: 'one', tool_call_id: 'a', name: 'read' },
  ]
  await using server = await startModelServer(() => ({ parts: ['yes'] }))
  await collect(call(server, { messages: turn({ meta: { google: { thoughtSignature: 'c2ln' } } }) }))
  await collect(call(server, { messages: turn({}) }))
  const signatures = server.requests.map(({ json }) => {
    const [, answer] = json['contents'] as { parts: { thoughtSignature?: string }[] }[]
    return answer!.parts.map(({ thoughtSignature }) => thoughtSignature)
  })
  assert.deepEqual(signatures, [['c2ln'], ['skip_thought_signature_validator']])
})

test('streamGemini() fails when the model wrote an invalid call', async () => {
  const chunk = { candidates: [{ content: { parts: [] }, finishReason: 'MALFORMED_FUNCTION_CALL' }] }
  await using server = await startModelServer([
    { raw: `data: ${JSON.stringify(chunk)}\n\n`, end: 'unfinished' },
  ])
  const { error } = await collectFailure(call(server))
  assert.equal(error.kind, 'unavailable')
  assert.match(error.message, /the answer ended early: MALFORMED_FUNCTION_CALL$/)
})

test('streamGemini() treats a blocked prompt as refused', async () => {
  const raw = `data: ${JSON.stringify({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } })}\n\n`
  await using server = await startModelServer([{ raw, end: 'unfinished' }])
  const finish = (await collect(call(server))).at(-1)
  assert.equal(finish?.type === 'finish' && finish.reason, 'refused')
})

test('streamGemini() reads Google’s refusals', async () => {
  const invalid = {
    error: {
      code: 400,
      message: 'API key not valid. Please pass a valid API key.',
      status: 'INVALID_ARGUMENT',
    },
  }
  const quota = { error: { code: 429, message: 'Quota', details: [{ retryDelay: '38s' }] } }
  const long = {
    error: {
      code: 400,
      message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
    },
  }
  await using server = await startModelServer([
    { status: 400, body: invalid },
    { status: 429, body: quota },
    { status: 400, body: long },
  ])
  assert.equal((await collectFailure(call(server))).error.kind, 'credentials')
  const throttled = (await collectFailure(call(server))).error
  assert.deepEqual([throttled.kind, throttled.retryAfterMs], ['throttled', 38_000])
  const tooLong = (await collectFailure(call(server))).error
  assert.deepEqual(
    [tooLong.kind, tooLong.hint],
    ['invalid', 'compact the conversation, send less, or use a model with a larger context'],
  )
})

test('streamGemini() sends the schema of any tool', async () => {
  await using server = await startModelServer([{ parts: ['yes'] }])
  const parameters = { type: 'object', properties: { n: { type: 'integer', exclusiveMinimum: 0 }, any: {} } }
  const events = await collect(call(server, { tools: [{ ...READ_TOOL, parameters }] }))
  assert.equal(joinText(events), 'yes')
  assert.match(server.requests[0]!.text, /"exclusiveMinimum":0/)
})

function call(server: ModelServer, request: Partial<ModelRequest> = {}) {
  const endpoint = endpointAt(`http://127.0.0.1:${server.port}/v1beta`, { kind: 'google' })
  return callEndpoint(() => endpoint, modelRequest({ model: MODEL, ...request }), NEVER)
}
