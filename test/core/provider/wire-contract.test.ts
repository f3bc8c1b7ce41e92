import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import type { ModelEndpoint } from '../../../src/core/provider/endpoint.ts'
import { callEndpoint } from '../../../src/core/provider/source.ts'
import type { ModelEvent, ModelRequest } from '../../../src/core/provider/types.ts'
import { collect, collectFailure, joinText, modelRequest, READ_TOOL } from '../../support/model-calls.ts'
import { type ModelServer, startModelServer } from '../../support/model-server.ts'
import { WIRES, wireEndpoint } from '../../support/wires.ts'

const NEVER = new AbortController().signal

/** All wires must behave alike; what only one can do is in its own test file. */
for (const wire of WIRES) {
  const { kind, noUsage } = wire

  describe(`callEndpoint() over ${kind}`, () => {
    test('yields text as it arrives, then why it ended and the usage', async () => {
      const gate = Promise.withResolvers<void>()
      const usage = { input: 12, output: 5, cacheRead: 4 }
      await using server = await startModelServer([{ parts: ['Hel', gate.promise, 'lo'], usage }])
      const events = call(server)[Symbol.asyncIterator]()
      assert.deepEqual((await events.next()).value, { type: 'text', delta: 'Hel' })
      gate.resolve()
      assert.deepEqual((await events.next()).value, { type: 'text', delta: 'lo' })
      assert.deepEqual((await events.next()).value, {
        type: 'finish',
        reason: 'stop',
        usage: { input: 12, output: 5, cache_read: 4, cache_write: 0, reasoning: 0 },
      })
      assert.equal((await events.next()).done, true)
    })

    test('keeps the connection for the next call', async () => {
      await using server = await startModelServer(() => ({ parts: ['yes'] }))
      await collect(call(server))
      await collect(call(server))
      assert.equal(server.requests.length, 2)
      assert.equal(server.connections(), 1)
    })

    test('yields parallel tool calls with the arguments as the model wrote them', async () => {
      const parts = [
        'Looking.',
        { call: 'a', name: 'read', args: '{"path":"one"}' },
        { call: 'b', name: 'read', args: wire.second },
      ]
      await using server = await startModelServer([{ parts }])
      const events = await collect(call(server, { tools: [READ_TOOL] }))
      assert.deepEqual(events.map(withoutMeta), [
        { type: 'text', delta: 'Looking.' },
        { type: 'tool-call', call: { id: 'a', name: 'read', arguments: '{"path":"one"}' } },
        { type: 'tool-call', call: { id: 'b', name: 'read', arguments: wire.second } },
        { type: 'finish', reason: 'tool-calls', usage: noUsage },
      ])
    })

    test('yields an empty list of arguments as a call', async () => {
      await using server = await startModelServer([
        { parts: [{ call: 'a', name: 'now', args: '' }], finish: 'stop' },
      ])
      const [event, finish] = await collect(call(server, { tools: [READ_TOOL] }))
      assert.equal(event?.type === 'tool-call' && event.call.name, 'now')
      assert.equal(finish?.type === 'finish' && finish.reason, 'tool-calls')
    })

    for (const finish of ['length', 'refused'] as const) {
      test(`reports an answer that ended with ${finish}`, async () => {
        await using server = await startModelServer([{ parts: ['So'], finish }])
        const events = await collect(call(server))
        assert.deepEqual(events.at(-1), { type: 'finish', reason: finish, usage: noUsage })
      })
    }

    test('fails with credentials on 401, sends one request, and prints no key', async () => {
      const body = {
        error: {
          type: 'authentication_error',
          message: 'Incorrect key sk-secret-0123456789 or sk-se***6789',
        },
      }
      await using server = await startModelServer([{ status: 401, body }])
      const { error, events } = await collectFailure(call(server, {}, { maxRetries: 2 }))
      assert.equal(error.kind, 'credentials')
      assert.equal(error.message, 'Cannot call scripted (test): Incorrect key [secret] or [secret] (401)')
      assert.equal(error.hint, 'check the key (TEST_API_KEY), or replace it: crabtalk connect')
      assert.deepEqual(events, [])
      assert.equal(server.requests.length, 1)
    })

    test('waits for the delay of a 429, then retries', async () => {
      const limited = {
        status: 429,
        headers: { 'retry-after': '0' },
        body: { error: { message: 'slow down' } },
      }
      await using server = await startModelServer([limited, { parts: ['Here.'] }])
      const [retry, ...rest] = await collect(call(server, {}, { maxRetries: 2 }))
      assert.equal(retry?.type, 'retry')
      assert.equal(retry?.type === 'retry' && retry.delayMs, 0)
      assert.equal(retry?.type === 'retry' && retry.error.kind, 'throttled')
      assert.equal(joinText(rest), 'Here.')
    })

    test('does not wait for a 429 of a minute', async () => {
      const limited = {
        status: 429,
        headers: { 'retry-after': '60' },
        body: { error: { message: 'slow down' } },
      }
      await using server = await startModelServer(() => limited)
      const { error } = await collectFailure(call(server, {}, { maxRetries: 2 }))
      assert.equal(error.kind, 'throttled')
      assert.equal(error.retryAfterMs, 60_000)
      assert.equal(error.hint, 'try again in 60 s')
      assert.equal(server.requests.length, 1)
    })

    test('retries after a 500', async () => {
      await using server = await startModelServer([{ status: 500, body: 'oops' }, { parts: ['Here.'] }])
      const events = await collect(call(server, {}, { maxRetries: 2 }))
      assert.deepEqual(
        events.map(({ type }) => type),
        ['retry', 'text', 'finish'],
      )
    })

    test('gives up after the number of retries in the request', async () => {
      await using server = await startModelServer(() => ({ status: 503 }))
      const { error, events } = await collectFailure(call(server, { retries: 1 }, { maxRetries: 2 }))
      assert.equal(error.kind, 'unavailable')
      assert.equal(events.length, 1)
      assert.equal(server.requests.length, 2)
    })

    for (const end of ['cut', 'unfinished'] as const) {
      test(`fails with unavailable when the stream is ${end}, and does not retry`, async () => {
        await using server = await startModelServer(() => ({ parts: ['Half an ans'], end }))
        const { error, events } = await collectFailure(call(server, {}, { maxRetries: 2 }))
        assert.equal(error.kind, 'unavailable', error.message)
        assert.equal(joinText(events), 'Half an ans')
        assert.equal(server.requests.length, 1)
      })
    }

    test('gives a slow reader everything that came before the cut', async () => {
      const parts = Array.from({ length: 200 }, (_, at) => `${at} `)
      await using server = await startModelServer([{ parts, end: 'cut' }])
      const { error, events } = await collectFailure(slowly(call(server)))
      assert.equal(error.kind, 'unavailable', error.message)
      assert.equal(joinText(events), parts.join(''))
    })

    test('fails with unavailable when the stream ends without an event', async () => {
      await using server = await startModelServer([{ end: 'unfinished' }])
      const { error } = await collectFailure(call(server))
      assert.equal(error.kind, 'unavailable')
      assert.match(error.message, /ended early/)
    })

    test('fails with the error record in the stream', async () => {
      const error = { type: 'overloaded_error', code: 529, message: 'Overloaded' }
      await using server = await startModelServer([{ parts: ['So'], error, end: 'unfinished' }])
      const failed = await collectFailure(call(server))
      assert.equal(failed.error.kind, 'unavailable')
      assert.equal(failed.error.message, `Cannot call scripted (test): Overloaded (${wire.overloaded})`)
    })

    test('fails with failed on bytes that are not events', async () => {
      await using server = await startModelServer([
        { parts: ['So'], raw: 'data: {"half":\n\n', end: 'unfinished' },
      ])
      const { error } = await collectFailure(call(server))
      assert.equal(error.kind, 'failed')
    })

    test('fails with timeout when no byte comes', async () => {
      await using server = await startModelServer([{ silent: true }])
      const { error } = await collectFailure(call(server, {}, { timeoutMs: 400 }))
      assert.equal(error.kind, 'timeout')
      for (const { done } of server.requests) assert.equal(await done, false) // no retry arrived after the timeout
    })

    test('fails with timeout when the stream falls silent', async () => {
      await using server = await startModelServer([{ parts: ['So'], end: 'hang' }])
      const { error, events } = await collectFailure(call(server, {}, { idleMs: 800 }))
      assert.equal(error.kind, 'timeout')
      assert.equal(joinText(events), 'So')
      assert.equal(await server.requests[0]!.done, false)
    })

    test('fails with cancelled when it is aborted before the first byte, and disconnects', async () => {
      await using server = await startModelServer([{ silent: true }])
      const controller = new AbortController()
      const failed = collectFailure(callEndpoint(() => at(server), modelRequest(), controller.signal))
      while (server.requests.length === 0) await new Promise(setImmediate)
      controller.abort()
      assert.equal((await failed).error.kind, 'cancelled')
      assert.equal(await server.requests[0]!.done, false)
    })

    test('fails with the reason of its abort, and does not retry', async () => {
      await using server = await startModelServer(() => ({ silent: true }))
      const controller = new AbortController()
      const events = callEndpoint(() => at(server, { maxRetries: 2 }), modelRequest(), controller.signal)
      const failed = collectFailure(events)
      while (server.requests.length === 0) await new Promise(setImmediate)
      const late = new CrabError('timeout', 'The time is up')
      controller.abort(late)
      assert.deepEqual(await failed, { events: [], error: late })
    })

    test('fails with cancelled when it is aborted in the middle, and disconnects', async () => {
      await using server = await startModelServer([{ parts: ['So'], end: 'hang' }])
      const controller = new AbortController()
      const events = callEndpoint(() => at(server), modelRequest(), controller.signal)
      await events.next()
      const next = events.next()
      controller.abort()
      await assert.rejects(next, { kind: 'cancelled' })
      assert.equal(await server.requests[0]!.done, false)
    })

    test('fails with cancelled when it is aborted while it waits to retry', async () => {
      await using server = await startModelServer(() => ({ status: 500, headers: { 'retry-after': '10' } }))
      const controller = new AbortController()
      const events = callEndpoint(() => at(server, { maxRetries: 2 }), modelRequest(), controller.signal)
      assert.equal((await events.next()).value?.type, 'retry')
      const next = events.next()
      controller.abort()
      await assert.rejects(next, { kind: 'cancelled' })
    })

    test('disconnects when the reader leaves', async () => {
      await using server = await startModelServer([{ parts: ['So'], end: 'hang' }])
      for await (const _ of call(server)) break
      assert.equal(await server.requests[0]!.done, false)
    })

    test('fails with unavailable when nothing listens', async () => {
      const server = await startModelServer([])
      await server[Symbol.asyncDispose]()
      const { error } = await collectFailure(call(server))
      assert.equal(error.kind, 'unavailable')
      assert.match(error.message, /^Cannot reach http:\/\/127\.0\.0\.1:\d+: connection refused$/)
      const what = kind === 'bedrock' ? 'the region eu-west-1' : 'base_url'
      assert.equal(error.hint, `check the network and ${what} (config.toml:3)`)
    })

    test('fails with config when the address is a web page', async () => {
      const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>hello</html>' }
      await using server = await startModelServer([page])
      const { error } = await collectFailure(call(server, {}, { maxRetries: 2 }))
      assert.equal(error.kind, 'config')
      assert.equal(server.requests.length, 1)
    })

    test('fails with config when the address redirects', async () => {
      await using server = await startModelServer([
        { status: 301, headers: { location: 'https://example.test/v1' } },
      ])
      const { error } = await collectFailure(call(server))
      assert.equal(error.kind, 'config')
      assert.match(error.message, /it redirects to https:\/\/example\.test\/v1 \(301\)$/)
    })
  })

  function call(server: ModelServer, request: Partial<ModelRequest> = {}, more: Partial<ModelEndpoint> = {}) {
    return callEndpoint(() => at(server, more), modelRequest(request), NEVER)
  }

  function at(server: ModelServer, more: Partial<ModelEndpoint> = {}): ModelEndpoint {
    return wireEndpoint(wire, server, more)
  }
}

/** Returns the part of a call that only its own wire sends back. */
function withoutMeta(event: ModelEvent): ModelEvent {
  if (event.type !== 'tool-call') return event
  const { meta: _, ...call } = event.call
  return { ...event, call }
}

async function* slowly<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const item of items) {
    yield item
    await new Promise(setImmediate)
  }
}
