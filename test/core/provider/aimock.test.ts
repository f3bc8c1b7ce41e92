import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LLMock } from '@copilotkit/aimock'
import type { Message } from '../../../src/core/base/message.ts'
import { callEndpoint } from '../../../src/core/provider/source.ts'
import { collect, endpointAt, modelRequest, READ_TOOL, textOf } from '../../support/model-calls.ts'

/** Somebody else's idea of both wires. */
for (const kind of ['openai-compatible', 'anthropic'] as const) {
  test(`callEndpoint() understands aimock's ${kind} through a tool call and its result`, async () => {
    await using mock = await startMock()
    const ask: Message = { role: 'user', content: 'What does notes.txt say?' }
    const endpoint = () => endpointAt(`${mock.url}/v1`, { kind, apiKey: 'mock-key-0123' })
    const signal = new AbortController().signal
    const first = await collect(
      callEndpoint(endpoint, modelRequest({ messages: [ask], tools: [READ_TOOL] }), signal),
    )
    const call = first.find((event) => event.type === 'tool-call')?.call
    assert.equal(call?.name, 'read')
    assert.deepEqual(JSON.parse(call.arguments), { path: 'notes.txt' })
    const messages: Message[] = [
      ask,
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', content: 'buy milk', tool_call_id: call.id, name: 'read' },
    ]
    const second = await collect(
      callEndpoint(endpoint, modelRequest({ messages, tools: [READ_TOOL] }), signal),
    )
    assert.equal(textOf(second), 'It says: buy milk.')
    const finish = second.at(-1)
    assert.equal(finish?.type === 'finish' && finish.reason, 'stop')
    assert.ok(finish?.type === 'finish' && finish.usage)
  })
}

async function startMock() {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' })
  mock.on({ userMessage: /notes/, hasToolResult: true }, { content: 'It says: buy milk.' })
  mock.on({ userMessage: /notes/ }, { toolCalls: [{ name: 'read', arguments: '{"path":"notes.txt"}' }] })
  await mock.start()
  return { url: mock.url, [Symbol.asyncDispose]: async () => await mock.stop() }
}
