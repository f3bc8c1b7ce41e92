import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitDescriptions } from '../../../src/core/provider/description-limit.ts'
import { callEndpoint } from '../../../src/core/provider/source.ts'
import {
  collect,
  collectFailure,
  endpointAt,
  joinText,
  modelRequest,
  READ_TOOL,
} from '../../support/model-calls.ts'
import { type RecordedRequest, type Reply, startModelServer } from '../../support/model-server.ts'

const NEVER = new AbortController().signal
const LONG = { ...READ_TOOL, name: 'think', description: `Rules: ${'漢'.repeat(3_000)}` }
const REQUEST = modelRequest({ tools: [READ_TOOL, LONG] })

test('fitDescriptions() sends descriptions whole to a provider that accepts them', async () => {
  await using server = await startModelServer(() => ({ parts: ['yes'] }))
  await collect(fitted(server.url)(REQUEST, NEVER))
  assert.deepEqual(readDescriptions(server.requests[0]!), [READ_TOOL.description, LONG.description])
})

test('fitDescriptions() cuts to the length that a provider asks for, says so once, and keeps it', async () => {
  await using server = await startModelServer(refuseLonger(1024))
  const complete = fitted(server.url)
  const events = await collect(complete(REQUEST, NEVER))
  assert.equal(joinText(events), 'yes')
  assert.deepEqual(events[0], {
    type: 'notice',
    message:
      "scripted accepts at most 1,024 characters of a tool's description: 1 description is cut (think)",
  })
  const again = await collect(complete(REQUEST, NEVER))
  assert.equal(again.filter(({ type }) => type === 'notice').length, 0)
  const cut = [READ_TOOL.description, `${LONG.description.slice(0, 1_023)}…`]
  assert.deepEqual(server.requests.slice(1).map(readDescriptions), [cut, cut])
})

test('fitDescriptions() passes other refusals on, and asks no third time', async () => {
  const bodies = [
    "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1024",
    "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 9000",
  ]
  for (const message of bodies) {
    await using server = await startModelServer([{ status: 400, body: { error: { message } } }])
    const { error } = await collectFailure(fitted(server.url)(REQUEST, NEVER))
    assert.match(error.message, /string too long/)
    assert.equal(server.requests.length, 1)
  }
  await using stubborn = await startModelServer((_, index) => refusal(1024 - index))
  const { error } = await collectFailure(fitted(stubborn.url)(REQUEST, NEVER))
  assert.match(error.message, /maximum length 1023/)
  assert.equal(stubborn.requests.length, 2)
})

function fitted(url: string) {
  const endpoint = endpointAt(url)
  return fitDescriptions((request, signal) => callEndpoint(() => endpoint, request, signal))
}

function readDescriptions({ json }: RecordedRequest): string[] {
  return (json['tools'] as { function: { description: string } }[]).map((tool) => tool.function.description)
}

function refuseLonger(limit: number) {
  return (request: RecordedRequest): Reply => {
    const isLonger = readDescriptions(request).some((text) => [...text].length > limit)
    return isLonger ? refusal(limit) : { parts: ['yes'] }
  }
}

/** The answer of OpenAI's chat completions, as of 2025. */
function refusal(limit: number): Reply {
  const message = `Invalid 'tools[1].function.description': string too long. Expected a string with maximum length ${limit}, but got a string with length 3007 instead.`
  const error = { message, type: 'invalid_request_error', code: 'string_above_max_length' }
  return { status: 400, body: { error } }
}
