import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LLMock } from '@copilotkit/aimock'
import type { Message } from '../../../src/core/base/message.ts'
import type { ModelEndpoint } from '../../../src/core/provider/endpoint.ts'
import { callEndpoint } from '../../../src/core/provider/source.ts'
import {
  collect,
  collectFailure,
  endpointAt,
  joinText,
  modelRequest,
  READ_TOOL,
} from '../../support/model-calls.ts'
import { WIRES } from '../../support/wires.ts'

const NEVER = new AbortController().signal

/** Tests the wires against an independent implementation. */
for (const { kind, path, more } of WIRES) {
  const at = (url: string) => (): ModelEndpoint =>
    endpointAt(`${url}${path}`, { kind, apiKey: 'mock-key-0123', ...more })

  test(`callEndpoint() completes a tool call with aimock's ${kind}`, async () => {
    await using mock = await startMock()
    const ask: Message = { role: 'user', content: 'What does notes.txt say?' }
    const say = (messages: Message[]) =>
      collect(callEndpoint(at(mock.url), modelRequest({ messages, tools: [READ_TOOL] }), NEVER))
    const call = (await say([ask])).find((event) => event.type === 'tool-call')?.call
    assert.equal(call?.name, 'read')
    assert.deepEqual(JSON.parse(call.arguments), { path: 'notes.txt' })
    const second = await say([
      ask,
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', content: 'buy milk', tool_call_id: call.id, name: 'read' },
    ])
    assert.equal(joinText(second), 'It says: buy milk.')
    const finish = second.at(-1)
    assert.equal(finish?.type === 'finish' && finish.reason, 'stop')
    assert.ok(finish?.type === 'finish' && finish.usage)
  })

  test(`callEndpoint() handles refusals and broken streams of aimock's ${kind}`, async () => {
    await using mock = await startMock()
    const say = (content: string) =>
      collectFailure(
        callEndpoint(at(mock.url), modelRequest({ messages: [{ role: 'user', content }] }), NEVER),
      )
    const slow = (await say('too fast')).error
    assert.deepEqual([slow.kind, slow.message], ['throttled', 'Cannot call scripted (test): slow down (429)'])
    assert.equal((await say('break off')).error.kind, 'unavailable')
  })
}

async function startMock() {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' })
  mock.on({ userMessage: /notes/, hasToolResult: true }, { content: 'It says: buy milk.' })
  mock.on({ userMessage: /notes/ }, { toolCalls: [{ name: 'read', arguments: '{"path":"notes.txt"}' }] })
  mock.on(
    { userMessage: /too fast/ },
    { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429 },
  )
  mock.on(
    { userMessage: /break off/ },
    { content: 'This is a long answer that is cut.' },
    { truncateAfterChunks: 2, chunkSize: 4 },
  )
  await mock.start()
  return { url: mock.url, [Symbol.asyncDispose]: async () => await mock.stop() }
}
