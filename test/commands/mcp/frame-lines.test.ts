import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTracker, toFrameLine, toJsonFrame } from '../../../src/commands/mcp/frame-lines.ts'
import { McpTraceEvent } from '../../../src/core/protocol/crabtalk.generated.ts'

const OWNERS = [
  { agent: 'crab', name: 'fs' },
  { agent: 'ann', name: 'fs' },
]

function frame(more: Partial<McpTraceEvent>): McpTraceEvent {
  return McpTraceEvent.create({
    ts: '2026-01-02T03:04:05.006Z',
    fingerprint: 'f'.repeat(64),
    owners: OWNERS,
    ...more,
  })
}

const CALL = frame({
  outgoing: true,
  method: 'tools/call',
  id: '7',
  payload: '{"jsonrpc":"2.0","id":7,"method":"tools/call"}',
  agent: 'crab',
  sender: 'ann',
  runId: 'R1',
})

test('a frame is one line: time, direction, server, method, duration, agents, and the message', () => {
  assert.match(
    toFrameLine(CALL, 'tools/call'),
    /^\d\d:04:05\.006 {2}→ {2}fs {2}tools\/call {2}#7 {2}crab\/ann R1 {2}\{"jsonrpc".*\}$/,
  )
  const failed = frame({ id: '7', durationMs: 12, payload: '{"id":7,"error":{"message":"a\\nb"}}' })
  assert.match(toFrameLine(failed, 'tools/call'), / {2}← {2}fs {2}tools\/call error {2}#7 {2}12 ms {2}\{/)
  const hostile = frame({ method: 'x\u001b[2J\ny', owners: [], payload: '{\u0007}' })
  assert.match(toFrameLine(hostile, ''), / {2}← {2}ffffffff {2}x y {2}\{\}$/)
})

test('an answer is shown with the method of its request, in both directions, once', () => {
  const tracker = new RequestTracker()
  const ping = frame({ method: 'ping', id: '7' })
  const other = frame({ ...CALL, fingerprint: 'other', method: 'tools/list' })
  assert.deepEqual(
    [CALL, ping, other].map((one) => tracker.resolveMethod(one)),
    ['tools/call', 'ping', 'tools/list'],
  )
  const answers = [
    frame({ id: '7' }),
    frame({ id: '7', outgoing: true }),
    frame({ id: '7', fingerprint: 'other' }),
  ]
  assert.deepEqual(
    answers.map((one) => tracker.resolveMethod(one)),
    ['tools/call', 'ping', 'tools/list'],
  )
  assert.equal(tracker.resolveMethod(frame({ id: '7' })), '')
})

test('a frame as JSON has its message as an object, and null for unknown values', () => {
  const json = toJsonFrame(CALL, 'tools/call')
  assert.deepEqual(
    [
      json.kind,
      json.direction,
      json.method,
      json.agent,
      json.sender,
      json.run,
      json.duration_ms,
      json.payload,
    ],
    ['request', 'out', 'tools/call', 'crab', 'ann', 'R1', null, JSON.parse(CALL.payload)],
  )
  const cut = toJsonFrame(
    frame({ id: '7', payload: '{"jsonrpc":"2.0","id":7,"error":{"me', truncated: true }),
    '',
  )
  assert.deepEqual(
    [cut.kind, cut.payload, cut.truncated, cut.agent, cut.method],
    ['error', '{"jsonrpc":"2.0","id":7,"error":{"me', true, null, null],
  )
  assert.equal(toJsonFrame(frame({ method: 'x' }), 'x').kind, 'notification')
})
