import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../../src/core/base/message.ts'
import type { ModelEndpoint } from '../../../src/core/provider/endpoint.ts'
import { callEndpoint } from '../../../src/core/provider/source.ts'
import type { ModelRequest } from '../../../src/core/provider/types.ts'
import { converseFault, converseWriter } from '../../support/converse-wire.ts'
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
const CLAUDE = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const ASK: Message = { role: 'user', content: 'hi' }
const STEP: Message[] = [
  ASK,
  { role: 'assistant', content: '', tool_calls: [{ id: 'a', name: 'read', arguments: '{"path":"x"}' }] },
  { role: 'tool', content: '\n', tool_call_id: 'a', name: 'read' },
]

test('streamConverse() puts the model into the path, with any characters in its name', async () => {
  await using server = await startModelServer(() => ({ parts: ['yes'] }))
  const arn = 'arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude'
  for (const model of [CLAUDE, arn]) await collect(call(server, { model }))
  assert.deepEqual(
    server.requests.map(({ path }) => decodeURIComponent(path.split('/')[2]!)),
    [CLAUDE, arn],
  )
})

test('streamConverse() sends a Bedrock API key, and signs without one', async () => {
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

test('streamConverse() marks what Claude and Nova cache, and nothing for other models', async () => {
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

test('streamConverse() marks nothing for Claude models without a cache', async () => {
  await using server = await startModelServer(() => ({ parts: ['yes'] }))
  const isMarked = async (model: string) => {
    await collect(call(server, { model, system: 'Be brief.', messages: STEP, tools: [READ_TOOL] }))
    return server.requests.at(-1)!.text.includes('cachePoint')
  }
  for (const model of [
    ...['anthropic.claude-v2', 'anthropic.claude-v2:1', 'anthropic.claude-instant-v1'],
    ...['anthropic.claude-3-haiku-20240307-v1:0', 'eu.anthropic.claude-3-5-sonnet-20241022-v2:0'],
  ])
    assert.equal(await isMarked(model), false, model)
  for (const model of [
    ...['us.anthropic.claude-3-5-haiku-20241022-v1:0', 'us.anthropic.claude-3-7-sonnet-20250219-v1:0'],
    ...['anthropic.claude-opus-4-20250514-v1:0', 'global.anthropic.claude-sonnet-5-5'],
  ])
    assert.equal(await isMarked(model), true, model)
})

test('streamConverse() sends arguments as an object, and a placeholder for an empty result', async () => {
  await using server = await startModelServer([{ parts: ['yes'] }])
  await collect(call(server, { messages: STEP, tools: [READ_TOOL] }))
  const [, answer, results] = server.requests[0]!.json['messages'] as { content: object[] }[]
  assert.deepEqual(answer!.content, [{ toolUse: { toolUseId: 'a', name: 'read', input: { path: 'x' } } }])
  assert.deepEqual(results!.content[0], { toolResult: { toolUseId: 'a', content: [{ text: '(nothing)' }] } })
})

test('streamConverse() sends redacted thinking back', async () => {
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

test('streamConverse() yields everything before a cut inside a frame', async () => {
  const half = Buffer.from(converseWriter().part('never')).subarray(0, 40).toString('latin1')
  const parts = Array.from({ length: 50 }, (_, at) => `${at} `)
  await using server = await startModelServer([{ parts, raw: Buffer.from(half, 'latin1'), end: 'cut' }])
  const { error, events } = await collectFailure(call(server))
  assert.equal(error.kind, 'unavailable', error.message)
  assert.equal(joinText(events), parts.join(''))
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
    'an unexpected model',
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
    'a signature that came late',
    403,
    'Signature expired: 20261121T180000Z is now earlier than 20261121T181000Z',
    'credentials',
    /clock of this machine/,
  ],
  [
    'a signature that came early',
    403,
    'Signature not yet current: 20261121T180000Z is still later than 20261121T170000Z',
    'credentials',
    /clock of this machine/,
  ],
  [
    'a right that IAM does not give',
    403,
    'User: arn:aws:iam::1:user/ann is not authorized to perform: bedrock:InvokeModel on resource: x',
    'credentials',
    /^let the user or role of these credentials do bedrock:InvokeModel \(TEST_API_KEY\)$/,
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
  test(`streamConverse() handles ${what}`, async () => {
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

for (const [type, name, message, kind, status] of [
  ['exception', 'accessDeniedException', 'You may not call this.', 'credentials', 403],
  ['exception', 'ExpiredTokenException', 'The token has expired', 'credentials', 403],
  ['exception', 'resourceNotFoundException', 'No such model', 'config', 404],
  ['exception', 'serviceQuotaExceededException', 'Too much', 'throttled', 429],
  ['exception', 'throttlingException', 'Too many tokens', 'throttled', 429],
  ['exception', 'modelTimeoutException', 'Too slow', 'timeout', 408],
  ['exception', 'modelStreamErrorException', 'The model failed', 'unavailable', 424],
  ['exception', 'validationException', 'Input is too long', 'invalid', 400],
  ['exception', 'somethingNewException', 'Not like this', 'invalid', 400],
  ['error', 'InternalFailure', 'Something broke here', 'unavailable', 500],
  ['error', 'AccessDenied', 'Not you', 'credentials', 403],
] as const) {
  test(`streamConverse() reports the message of an ${type} ${name}`, async () => {
    const raw = converseFault(type, name, message)
    await using server = await startModelServer([{ parts: ['Half of '], raw, end: 'unfinished' }])
    const { error, events } = await collectFailure(call(server))
    assert.deepEqual(
      [error.kind, error.message, joinText(events)],
      [kind, `Cannot call scripted (test): ${message} (${status})`, 'Half of '],
    )
  })
}

test('streamConverse() sends one request when the stream begins with a refusal', async () => {
  const raw = converseFault('exception', 'accessDeniedException', 'not you')
  await using server = await startModelServer(() => ({ raw, end: 'unfinished' }))
  await collectFailure(call(server, {}, { maxRetries: 2 }))
  assert.equal(server.requests.length, 1)
})

test('streamConverse() suggests a profile of one geography when a global one is denied', async () => {
  const message =
    'User: arn:aws:iam::1:user/ann is not authorized to perform: bedrock:InvokeModelWithResponseStream on resource: x'
  await using server = await startModelServer(() => ({ status: 403, body: { message } }))
  const hintIn = async (region: string, model: string) => {
    const credentials = { accessKeyId: 'AKID', secretAccessKey: 's' }
    const more = { apiKey: undefined, aws: { region, credentials } }
    return (await collectFailure(call(server, { model }, more))).error.hint ?? ''
  }
  const model = 'anthropic.claude-sonnet-5-5'
  for (const [region, geography] of [
    ['eu-west-1', 'eu'],
    ['us-east-1', 'us'],
    ['ap-northeast-1', 'jp'],
    ['ap-southeast-1', 'apac'],
  ] as const)
    assert.ok((await hintIn(region, `global.${model}`)).endsWith(`: ${geography}.${model}`), region)
  assert.doesNotMatch(await hintIn('eu-west-1', `eu.${model}`), /part of the world/)
  assert.doesNotMatch(await hintIn('me-central-1', `global.${model}`), /part of the world/)
})

test('streamConverse() prints no secret of AWS', async () => {
  const aws = {
    region: 'r',
    credentials: { accessKeyId: 'AKID', secretAccessKey: 'very/secret', sessionToken: 'token+token' },
  }
  await using server = await startModelServer([
    { status: 403, body: { message: 'got very/secret and token+token, or token%2Btoken' } },
  ])
  const { error } = await collectFailure(call(server, {}, { apiKey: undefined, aws }))
  assert.equal(error.message, 'Cannot call scripted (test): got [secret] and [secret], or [secret] (403)')
})

function call(server: ModelServer, request: Partial<ModelRequest> = {}, more: Partial<ModelEndpoint> = {}) {
  const endpoint = endpointAt(`http://127.0.0.1:${server.port}`, { kind: 'bedrock', ...more })
  return callEndpoint(() => endpoint, modelRequest(request), NEVER)
}
