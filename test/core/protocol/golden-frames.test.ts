import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { decodeMessage } from '../../../src/core/protocol/codec.ts'
import {
  AgentEventKind,
  ClientMessage,
  type DeepPartial,
  McpEventKind,
  McpStatus,
  ServerMessage,
  SourceKind,
} from '../../../src/core/protocol/crabtalk.generated.ts'
import { encodeFrame, readFrames } from '../../../src/core/protocol/frame.ts'
import { readProto } from '../../support/proto.ts'

type RequestBody = DeepPartial<NonNullable<ClientMessage['msg']>> | undefined
type ReplyBody = DeepPartial<NonNullable<ServerMessage['msg']>>
type EventBody = DeepPartial<
  NonNullable<Extract<ServerMessage['msg'], { $case: 'stream' }>['value']['event']>
>

const REQUESTS: Record<string, RequestBody> = {
  ping: { $case: 'ping', value: {} },
  empty: undefined,
  'send crab/hi': { $case: 'send', value: { agent: 'crab', content: 'hi' } },
  'stream full': {
    $case: 'stream',
    value: {
      agent: 'crab',
      content: 'hello',
      sender: 'user',
      cwd: '/tmp',
      guest: 'twin',
      toolChoice: 'auto',
    },
  },
  'stream sender="" (present-empty)': { $case: 'stream', value: { agent: 'crab', content: 'x', sender: '' } },
  kill: { $case: 'kill', value: { agent: 'crab', sender: 'user' } },
  reply_to_ask: {
    $case: 'replyToAsk',
    value: { agent: 'crab', sender: 'user', content: '{"Which DB?":"Postgres"}' },
  },
  'list_mcps all': { $case: 'listMcps', value: {} },
  'list_mcps crab': { $case: 'listMcps', value: { agent: 'crab' } },
  upsert_mcp: {
    $case: 'upsertMcp',
    value: { config: '{"name":"gh","command":"github-mcp"}', agent: 'crab' },
  },
  delete_mcp: { $case: 'deleteMcp', value: { name: 'gh', agent: 'crab' } },
  subscribe_mcp_events: { $case: 'subscribeMcpEvents', value: {} },
  subscribe_events: { $case: 'subscribeEvents', value: {} },
  subscribe_event: {
    $case: 'subscribeEvent',
    value: { source: 'agent:scout:done', targetAgent: 'crab', once: true },
  },
  'unsubscribe_event 300': { $case: 'unsubscribeEvent', value: { id: 300 } },
  rename_agent: { $case: 'renameAgent', value: { oldName: 'a', newName: 'b' } },
  extension: { $case: 'extension', value: Uint8Array.of(0xde) },
  steer: { $case: 'steerSession', value: { agent: 'crab', sender: 'user', content: 'stop' } },
  compact: { $case: 'compact', value: { agent: 'crab', sender: 'user' } },
  reload: { $case: 'reload', value: {} },
  get_stats: { $case: 'getStats', value: {} },
}

const TIME = '2026-04-29T00:00:00+00:00'

const REPLIES: Record<string, ReplyBody> = {
  pong: { $case: 'pong', value: {} },
  'error 404': { $case: 'error', value: { code: 404, message: "agent 'x' not found" } },
  'error 400': { $case: 'error', value: { code: 400, message: 'empty client message' } },
  'stream start': event({ $case: 'start', value: { agent: 'crab' } }),
  'stream chunk': event({ $case: 'chunk', value: { content: 'hi' } }),
  'stream thinking': event({ $case: 'thinking', value: { content: 'hm' } }),
  text_start: event({ $case: 'textStart', value: { agent: 'crab' } }),
  tool_start: event({
    $case: 'toolStart',
    value: { calls: [{ name: 'bash', arguments: '{"command":"ls"}' }] },
  }),
  'tool_result err': event({
    $case: 'toolResult',
    value: { callId: 'c1', output: 'boom', durationMs: 12, isError: true },
  }),
  tools_complete: event({ $case: 'toolsComplete', value: {} }),
  context_usage: event({
    $case: 'contextUsage',
    value: { usage: { promptTokens: 10, completionTokens: 2, totalTokens: 12, cacheHitTokens: 0 } },
  }),
  ask_user: event({
    $case: 'askUser',
    value: {
      questions: [
        {
          question: 'Which DB?',
          header: 'Database',
          options: [{ label: 'Postgres', description: 'sql' }],
          multiSelect: true,
        },
      ],
    },
  }),
  'end ok': event({
    $case: 'end',
    value: {
      agent: 'crab',
      model: 'm',
      usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
    },
  }),
  'end err': event({ $case: 'end', value: { agent: 'crab', error: 'bad', model: 'm', usage: {} } }),
  response: {
    $case: 'response',
    value: { agent: 'crab', content: 'hello', model: 'm', usage: { totalTokens: 3 } },
  },
  stats: {
    $case: 'stats',
    value: { uptimeSecs: 5, activeConversations: 1, registeredAgents: 2, activeModel: 'm' },
  },
  'mcp_list 1': {
    $case: 'mcpList',
    value: {
      mcps: [
        {
          name: 'gh',
          command: 'github-mcp',
          args: ['--stdio'],
          env: { TOKEN: 'abc' },
          source: 'crab',
          autoRestart: true,
          sourceKind: SourceKind.LOCAL,
          status: McpStatus.CONNECTED,
          toolCount: 3,
        },
      ],
    },
  },
  'mcp_event connected': {
    $case: 'mcpEvent',
    value: {
      kind: McpEventKind.CONNECTED,
      name: 'gh',
      tools: ['a', 'b'],
      timestamp: TIME,
      agent: 'crab',
    },
  },
  'agent_event done': {
    $case: 'agentEvent',
    value: {
      agent: 'crab',
      sender: '7',
      kind: AgentEventKind.DONE,
      content: 'm 10 in / 2 out',
      timestamp: TIME,
    },
  },
  'agent_event text_delta (kind 0 omitted)': {
    $case: 'agentEvent',
    value: { agent: 'crab', sender: '7', kind: AgentEventKind.TEXT_DELTA, content: 'hi', timestamp: 't' },
  },
}

const vectors = readFileSync(join(import.meta.dirname, 'fixtures/wire-vectors.txt'), 'utf8')
  .split('\n')
  .filter((line) => /^[CS] /.test(line))
  .map((line) => line.match(/^(?<side>[CS]) (?<label>.+) \| (?<hex>[0-9a-f]+)$/)!.groups!)

test('every golden frame has its message here', () => {
  const labels = (side: string) =>
    vectors.filter((vector) => vector['side'] === side).map(({ label }) => label)
  assert.deepEqual(labels('C').toSorted(), Object.keys(REQUESTS).toSorted())
  assert.deepEqual(labels('S').toSorted(), Object.keys(REPLIES).toSorted())
})

for (const { side, label, hex } of vectors) {
  if (side === 'C') {
    const message = ClientMessage.create({ msg: REQUESTS[label!] })
    test(`a client's "${label}" is encoded to its golden frame`, () => {
      assert.equal(toHex(ClientMessage.encode(message).finish()), hex)
    })
    test(`the golden frame of a client's "${label}" is decoded to it`, async () => {
      const payloads = await readPayloads(hex!)
      assert.deepEqual(
        payloads.map((payload) => decodeMessage(ClientMessage, payload)),
        [message],
      )
    })
  } else {
    const message = ServerMessage.create({ msg: REPLIES[label!] })
    test(`a server's "${label}" is encoded to its golden frame`, () => {
      assert.equal(toHex(ServerMessage.encode(message).finish()), hex)
    })
    test(`the golden frame of a server's "${label}" is decoded to it`, async () => {
      const payloads = await readPayloads(hex!)
      assert.deepEqual(
        payloads.map((payload) => decodeMessage(ServerMessage, payload)),
        [message],
      )
    })
  }
}

for (const [name, type] of [
  ['ClientMessage', ClientMessage],
  ['ServerMessage', ServerMessage],
] as const) {
  test(`reserved tags of ${name} are decoded to no case`, () => {
    const { reservedNumbers } = readProto().messages.get(name)!
    assert.ok(reservedNumbers.length >= 10)
    for (const number of reservedNumbers) {
      const payload = Buffer.concat([varint((number << 3) | 2), Buffer.from('020a00', 'hex')])
      assert.deepEqual(decodeMessage<{ msg?: unknown }>(type, payload).msg, undefined)
    }
  })
}

function event(body: EventBody): ReplyBody {
  return { $case: 'stream', value: { event: body } }
}

function toHex(payload: Uint8Array): string {
  return Buffer.from(encodeFrame(payload)).toString('hex')
}

async function readPayloads(hex: string): Promise<Uint8Array[]> {
  const chunk = Uint8Array.from(Buffer.from(hex, 'hex'))
  return await Array.fromAsync(readFrames(ReadableStream.from([chunk])))
}

function varint(value: number): Buffer {
  return value < 0x80 ? Buffer.of(value) : Buffer.of((value & 0x7f) | 0x80, value >> 7)
}
