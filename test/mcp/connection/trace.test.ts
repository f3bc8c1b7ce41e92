import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { tappedLines, tracedTransport, withCallingTurn } from '../../../src/mcp/connection/trace.ts'
import type { McpFrame } from '../../../src/mcp/types.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('tracedTransport() forwards everything, and inspects nothing while nothing listens', async () => {
  const { transport, inner, frames, reported: received } = startTrace({ hasListeners: false })
  await transport.start()
  const unseen = { jsonrpc: '2.0', method: 'x', toJSON: () => assert.fail('looked at') } as JSONRPCMessage
  await transport.send(unseen)
  inner.onmessage?.(unseen)
  assert.deepEqual([inner.sent, received, frames], [[unseen], [unseen], []])
})

test('an answer has its duration, in both directions, for any form of id', async () => {
  const at = startTrace()
  await at.transport.start()
  await at.transport.send({ jsonrpc: '2.0', id: 7, method: 'tools/list' })
  at.clock.ms += 5
  at.inner.onmessage?.({ jsonrpc: '2.0', id: 7, method: 'ping' })
  at.clock.ms += 25
  at.inner.onmessage?.({ jsonrpc: '2.0', id: '7', result: {} })
  at.clock.ms += 12
  await at.transport.send({ jsonrpc: '2.0', id: 7, result: {} })
  at.inner.onmessage?.({ jsonrpc: '2.0', id: 8, result: {} })
  at.inner.onmessage?.({ jsonrpc: '2.0', method: 'notifications/message' })
  assert.deepEqual(
    at.frames.map(({ outgoing, method, id, durationMs }) => [outgoing, method, id, durationMs]),
    [
      [true, 'tools/list', '7', undefined],
      [false, 'ping', '7', undefined],
      [false, '', '7', 30],
      [true, '', '7', 37],
      [false, '', '8', undefined],
      [false, 'notifications/message', '', undefined],
    ],
  )
  assert.deepEqual(at.frames[0]?.owners, [{ agent: 'crab', name: 'one' }])
})

test('a request that was sent while nothing listened has no duration', async () => {
  const at = startTrace()
  await at.transport.start()
  await at.transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  at.tap.hasListeners = false
  await at.transport.send({ jsonrpc: '2.0', id: 2, method: 'ping' })
  at.tap.hasListeners = true
  for (const id of [1, 2]) at.inner.onmessage?.({ jsonrpc: '2.0', id, result: {} })
  assert.deepEqual(
    at.frames.slice(1).map(({ durationMs }) => durationMs),
    [undefined, undefined],
  )
})

test('a call, its answer, progress and cancellation are attributed to its caller during concurrent calls', async () => {
  const at = startTrace()
  await at.transport.start()
  const ask = (id: number, sender: string) =>
    withCallingTurn({ agent: 'crab', sender, runId: `run-${id}` }, async () => {
      await new Promise(setImmediate)
      const params = { name: 'x', _meta: { progressToken: `p${id}` } }
      await at.transport.send({ jsonrpc: '2.0', id, method: 'tools/call', params })
      await at.transport.send({ jsonrpc: '2.0', id: id + 10, method: 'tools/list' })
    })
  await Promise.all([ask(1, 'ann'), ask(2, 'bob')])
  const requestFrames = at.frames.splice(0)
  await withCallingTurn({ agent: 'other', sender: 'eve', runId: 'run' }, async () => {
    const params = { progressToken: 'p2', progress: 1 }
    at.inner.onmessage?.({ jsonrpc: '2.0', method: 'notifications/progress', params })
    at.inner.onmessage?.({ jsonrpc: '2.0', id: 1, method: 'ping' })
    at.inner.onmessage?.({ jsonrpc: '2.0', id: 1, result: {} })
    const cancelled = { method: 'notifications/cancelled', params: { requestId: 2 } } as const
    await at.transport.send({ jsonrpc: '2.0', ...cancelled })
    at.inner.onmessage?.({ jsonrpc: '2.0', ...cancelled })
    at.inner.onmessage?.({ jsonrpc: '2.0', id: 11, result: {} })
  })
  const callers = (frames: readonly McpFrame[]) => frames.map(({ caller }) => caller?.sender)
  assert.deepEqual(callers(requestFrames).toSorted(), ['ann', 'bob', undefined, undefined])
  assert.deepEqual(callers(at.frames), ['bob', undefined, 'ann', 'bob', undefined, undefined])
  assert.deepEqual(at.frames[2]!.caller, { agent: 'crab', sender: 'ann', runId: 'run-1' })
})

test('tappedLines() reports what a server writes to standard error, only while something listens', () => {
  const at = startTrace()
  const tell = tappedLines(at.tap, { fingerprint: 'f', owners: () => [], now: () => 7 })
  tell(() => ['one', 'two'])
  at.tap.hasListeners = false
  tell(() => assert.fail('read'))
  assert.deepEqual(
    at.frames.map(({ at: ms, isLog, outgoing, payload }) => [ms, isLog, outgoing, payload]),
    [[7, true, false, 'one\ntwo']],
  )
})

test("traces never contain a server's secrets or texts that look like secrets", async () => {
  const at = startTrace()
  const text = 'a "hunter2secret"\n{"password":"p4ss"} Bearer abcdef https://me:pw@host/?token=t0k3n'
  const params = { name: 'x', arguments: { apiKey: 'k3y', hunter2secret: 1, text, limit: 5, path: '/a' } }
  await at.transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const { payload } = at.frames[0]!
  assert.doesNotMatch(payload, /hunter2secret|p4ss|abcdef|me:pw|t0k3n|k3y/)
  assert.equal(payload.split('[secret]').length - 1, 7, payload)
  assert.match(payload, /"limit":5,"path":"\/a"/)
})

test('a payload has at most 64 KiB, and ends with a whole character', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(70_000), fc.constantFrom('x', 'é', '€', '😀'), async (length, letter) => {
      const at = startTrace()
      const text = 'y'.repeat(length % 7) + letter.repeat(length)
      await at.transport.send({ jsonrpc: '2.0', method: 'x', params: { text } })
      const [{ payload, isCut }] = at.frames as [McpFrame]
      const whole = JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { text } })
      assert.ok(Buffer.byteLength(payload) <= 65_536)
      assert.ok(whole.startsWith(payload))
      assert.equal(isCut, Buffer.byteLength(whole) > 65_536)
      if (isCut) assert.ok(Buffer.byteLength(payload) > 65_536 - 4)
      else assert.equal(payload, whole)
    }),
    { numRuns: propertyRuns(600, 60) },
  )
})

function startTrace({ hasListeners = true } = {}) {
  const frames: McpFrame[] = []
  const received: JSONRPCMessage[] = []
  const clock = { ms: 1_000 }
  const tap = { hasListeners, publish: (frame: McpFrame) => void frames.push(frame) }
  const inner: Transport & { sent: JSONRPCMessage[] } = {
    sent: [],
    async start() {},
    async send(message) {
      inner.sent.push(message)
    },
    async close() {},
  }
  const env = { TOKEN: 'hunter2secret' }
  const target = { transport: 'stdio', command: 'x', args: [], env, cwd: '/' } as const
  const owners = () => [{ agent: 'crab', name: 'one' }]
  const transport = tracedTransport(inner, tap, { fingerprint: 'f', target, owners, now: () => clock.ms })
  transport.onmessage = (message) => void received.push(message)
  return { transport, inner, frames, reported: received, clock, tap }
}
