import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../../src/core/base/message.ts'
import type { Endpoint } from '../../../src/core/provider/endpoint.ts'
import { callEndpoint } from '../../../src/core/provider/source.ts'
import type { ModelRequest } from '../../../src/core/provider/types.ts'
import { converseWriter } from '../../support/converse-wire.ts'
import {
  collect,
  collectFailure,
  endpointAt,
  modelRequest,
  READ_TOOL,
  textOf,
} from '../../support/model-calls.ts'
import { type ModelServer, startModelServer } from '../../support/model-server.ts'

const NEVER = new AbortController().signal
const CLAUDE = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const ASK: Message = { role: 'user', content: 'hi' }
const STEP: Message[] = [
  ASK,
  { role: 'assistant', content: '', tool_calls: [{ id: 'a', name: 'read', arguments: '{"path":"x"}' }] },
  { role: 'tool', content: '\n', tool_call_id: 'a', name: 'read' },
]

test('streamConverse() names the model in the path, whatever stands in its name', async () => {
  await using server = await startModelServer(() => ({ parts: ['yes'] }))
  const arn = 'arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude'
  for (const model of [CLAUDE, arn]) await collect(call(server, { model }))
  assert.deepEqual(
    server.requests.map(({ path }) => decodeURIComponent(path.split('/')[2]!)),
    [CLAUDE, arn],
  )
})

test('streamConverse() shows a key of Bedrock’s own, and signs without one', async () => {
  await using server = await startModelServer(() => ({ parts: ['yes'] }))
  await collect(call(server))
  assert.equal(server.requests[0]!.headers.authorization, 'Bearer sk-secret-0123456789')
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 's', sessionToken: 'temporary' }
  await collect(call(server, {}, { apiKey: undefined, aws: { region: 'eu-west-1', credentials } }))
  const { headers } = server.requests[1]!
  assert.match(headers.authorization ?? '', /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/bedrock\//)
  assert.equal(headers['x-amz-security-token'], 'temporary')
  await collect(call(server, {}, { apiKey: undefined, aws: { region: 'eu-west-1' } }))
  assert.equal(server.requests[2]!.headers.authorization, undefined)
})

test('streamConverse() marks what Claude and Nova keep in their caches, and nothing for others', async () => {
  await using server = await startModelServer(() => ({ parts: ['yes'] }))
  const messages: Message[] = [ASK, { role: 'assistant', content: 'yes' }, ...STEP]
  for (const model of [CLAUDE, 'eu.amazon.nova-pro-v1:0', 'openai.gpt-oss-120b-1:0']) {
    await collect(call(server, { model, system: 'Be brief.', messages, tools: [READ_TOOL] }))
  }
  const marks = server.requests.map(({ json }) => ({
    system: 'cachePoint' in ((json['system'] as object[])[1] ?? {}),
    messages: (json['messages'] as { content: object[] }[]).map(({ content }) =>
      content.some((block) => 'cachePoint' in block),
    ),
  }))
  const cached = { system: true, messages: [false, false, true, false, true] }
  assert.deepEqual(marks, [cached, cached, { system: false, messages: [false, false, false, false, false] }])
})

test('streamConverse() sends arguments as an object, and a word for a result without one', async () => {
  await using server = await startModelServer([{ parts: ['yes'] }])
  await collect(call(server, { messages: STEP, tools: [READ_TOOL] }))
  const [, answer, results] = server.requests[0]!.json['messages'] as { content: object[] }[]
  assert.deepEqual(answer!.content, [{ toolUse: { toolUseId: 'a', name: 'read', input: { path: 'x' } } }])
  assert.deepEqual(results!.content[0], { toolResult: { toolUseId: 'a', content: [{ text: '(nothing)' }] } })
})

test('streamConverse() returns thinking that was hidden', async () => {
  const parts = [{ redacted: 'aGlkZGVu' }, { call: 'a', name: 'read', args: '{}' }]
  await using server = await startModelServer([{ parts }, { parts: ['yes'] }])
  const events = await collect(call(server, { model: CLAUDE, tools: [READ_TOOL] }))
  const end = events.find((event) => event.type === 'thinking-end')
  assert.ok(end?.meta)
  const [ask, answer, result] = STEP as [Message, Message, Message]
  const messages = [ask, { ...answer, reasoning: [{ text: '', meta: end.meta }] }, result]
  await collect(call(server, { model: CLAUDE, messages, tools: [READ_TOOL] }))
  assert.match(server.requests[1]!.text, /"redactedContent":"aGlkZGVu"/)
})

test('streamConverse() gives all that came before a cut in the middle of a frame', async () => {
  const half = Buffer.from(converseWriter().part('never')).subarray(0, 40).toString('latin1')
  const parts = Array.from({ length: 50 }, (_, at) => `${at} `)
  await using server = await startModelServer([{ parts, raw: Buffer.from(half, 'latin1'), end: 'cut' }])
  const { error, events } = await collectFailure(call(server))
  assert.equal(error.kind, 'unavailable', error.message)
  assert.equal(textOf(events), parts.join(''))
})

for (const [what, status, message, kind, hint] of [
  [
    'a wrong region',
    403,
    'Credential should be scoped to a valid region, not eu-x',
    'config',
    /eu-west-1 has it/,
  ],
  [
    'a model the region lacks',
    400,
    'The provided model identifier is invalid.',
    'config',
    /eu-west-1 has it/,
  ],
  [
    'a name without its profile',
    400,
    'Invocation of model ID x with on-demand throughput isn’t supported.',
    'config',
    /global\., us\./,
  ],
  [
    'a model nobody asked for',
    403,
    'You don’t have access to the model with the specified model ID.',
    'credentials',
    /Bedrock console/,
  ],
  [
    'keys that ended',
    403,
    'The security token included in the request is expired',
    'credentials',
    /log in to AWS again/,
  ],
  [
    'a bad signature',
    403,
    'The request signature we calculated does not match',
    'credentials',
    /check the key \(TEST_API_KEY\)/,
  ],
  ['a model that failed', 424, 'The model failed', 'unavailable', /try again later/],
  ['a prompt too long', 400, 'Input is too long for requested model.', 'invalid', /send less/],
] as const) {
  test(`streamConverse() understands ${what}`, async () => {
    await using server = await startModelServer([{ status, body: { message } }])
    const credentials = { accessKeyId: 'AKID', secretAccessKey: 's' }
    const aws = { region: 'eu-west-1', credentials }
    const { error } = await collectFailure(call(server, {}, { apiKey: undefined, aws }))
    assert.deepEqual(
      [error.kind, error.message],
      [kind, `Cannot call scripted (test): ${message} (${status})`],
    )
    assert.match(error.hint ?? '', hint)
  })
}

test('streamConverse() prints no secret of AWS', async () => {
  const aws = {
    region: 'r',
    credentials: { accessKeyId: 'AKID', secretAccessKey: 'very/secret', sessionToken: 'token+token' },
  }
  await using server = await startModelServer([
    { status: 403, body: { message: 'got very/secret and token+token' } },
  ])
  const { error } = await collectFailure(call(server, {}, { apiKey: undefined, aws }))
  assert.equal(error.message, 'Cannot call scripted (test): got [secret] and [secret] (403)')
})

function call(server: ModelServer, request: Partial<ModelRequest> = {}, more: Partial<Endpoint> = {}) {
  const endpoint = endpointAt(`http://127.0.0.1:${server.port}`, { kind: 'bedrock', ...more })
  return callEndpoint(() => endpoint, modelRequest(request), NEVER)
}
