import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ClientMessage,
  type MessageFns,
  SendResponse,
  ServerMessage,
  StreamEvent,
} from '../../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, route } from '../../../src/core/protocol/dispatch.ts'
import { encodeFrame, MAX_FRAME_BYTES } from '../../../src/core/protocol/frame.ts'
import { MAX_RUNNING_REQUESTS } from '../../../src/core/transport/serve-connection.ts'
import { until } from '../../support/until.ts'
import { type EndpointKind, serve } from './serving.ts'

const ping = { $case: 'ping', value: {} } as const
const turn = { $case: 'stream', value: { content: 'hi' } } as const
const { signal } = new AbortController()

for (const kind of ['unix', 'tcp'] satisfies EndpointKind[]) {
  test(`requests of one ${kind} connection run concurrently, and their replies carry their ids`, async () => {
    const request = Promise.withResolvers<string>()
    const dispatch = route({
      async *stream() {
        yield event('start')
        yield event('chunk', await request.promise)
        yield event('end')
      },
      replyToAsk: async ({ content }) => request.resolve(content),
      ping: async () => {},
    })
    await using serving = await serve(kind, dispatch)
    using client = await serving.open()
    client.send(7, turn)
    assert.deepEqual(idAndCase(await client.reply()), [7, 'start'])
    client.send(8, ping)
    assert.deepEqual(idAndCase(await client.reply()), [8, 'pong'])
    client.send(9, { $case: 'replyToAsk', value: { content: 'Postgres' } })
    const rest = [await client.reply(), await client.reply(), await client.reply()].map(idAndCase)
    assert.deepEqual(
      rest.filter(([id]) => id === 7),
      [
        [7, 'chunk'],
        [7, 'end'],
      ],
    )
    assert.deepEqual(
      rest.filter(([id]) => id !== 7),
      [[9, 'pong']],
    )
  })

  test(`an old client over ${kind} sends no ids and gets none`, async () => {
    await using serving = await serve(kind, route({ ping: async () => {} }))
    using client = await serving.open()
    for (let round = 0; round < 3; round += 1) {
      client.send(0, ping)
      assert.deepEqual(idAndCase(await client.reply()), [0, 'pong'])
    }
  })

  test(`a client that half-closes after its requests over ${kind} gets every reply, then the end`, async () => {
    const go = Promise.withResolvers<void>()
    const dispatch = route({
      send: async (_request, given) => {
        await go.promise
        given.throwIfAborted()
        return SendResponse.create({ content: 'late' })
      },
      ping: async () => {},
    })
    await using serving = await serve(kind, dispatch, { times: { probeMs: 1, heartbeatMs: 1 } })
    using client = await serving.open()
    client.send(1, { $case: 'send', value: { content: 'hi' } })
    client.send(2, ping)
    client.halfClose()
    let first = await client.reply()
    while (first && first.msg === undefined) first = await client.reply()
    assert.deepEqual(idAndCase(first), [2, 'pong'])
    go.resolve()
    const rest = (await client.replies()).filter(({ msg }) => msg !== undefined) // without heartbeats
    assert.deepEqual(rest.map(idAndCase), [[1, 'response']])
    await until('the connection is closed', () => serving.listener.connections === 0)
  })

  for (const [what, bytes, message] of BAD_BYTES()) {
    test(`${what} over ${kind} is answered by 400, and the connection closes`, async () => {
      const ended = Promise.withResolvers<void>()
      const dispatch = route({
        ping: async () => {},
        async *stream(_request, given) {
          yield event('start')
          given.addEventListener('abort', () => ended.resolve())
          await ended.promise
        },
      })
      await using serving = await serve(kind, dispatch)
      using client = await serving.open()
      client.send(1, turn)
      assert.deepEqual(idAndCase(await client.reply()), [1, 'start'])
      client.write(bytes)
      if (what.includes('ends')) client.halfClose()
      const replies = await client.replies()
      client.hangUp()
      const error = replies.find(({ requestId }) => requestId === 0)
      assert.equal(error?.msg?.$case, 'error')
      assert.equal(error.msg.value.code, 400)
      assert.match(error.msg.value.message, message)
      await ended.promise
      assert.deepEqual(await request(serving.dispatch, 'ping', {}, signal), {})
      await until('no connection is open', () => serving.listener.connections === 0)
      assert.deepEqual(serving.errors, [])
    })
  }

  test(`16 MiB cross ${kind} in both directions, and one byte more is an error of that request`, async () => {
    const lengths: number[] = []
    const dispatch: Dispatch = async function* ({ requestId, msg }) {
      if (msg?.$case !== 'extension') return
      lengths.push(msg.value.length)
      yield { requestId, msg: { $case: 'extension', value: filler(ServerMessage, lengths.length - 1) } }
    }
    await using serving = await serve(kind, dispatch)
    using client = await serving.open()
    const largest = filler(ClientMessage, 0)
    client.send(ID, { $case: 'extension', value: largest })
    assert.equal((await client.payload())!.length, MAX_FRAME_BYTES)
    client.send(ID, { $case: 'extension', value: Uint8Array.of(1) })
    const refused = await client.reply()
    assert.equal(refused?.requestId, ID)
    assert.equal(refused.msg?.$case === 'error' && refused.msg.value.code, 500)
    client.send(ID, { $case: 'ping', value: {} })
    assert.equal((await client.reply())?.requestId, ID)
    assert.deepEqual(lengths, [largest.length, 1])
  })
}

test(`a connection with ${MAX_RUNNING_REQUESTS} requests is read further when one of them is answered`, async () => {
  const waiting: (() => void)[] = []
  const dispatch = route({ ping: () => new Promise<void>((resolve) => void waiting.push(resolve)) })
  await using serving = await serve('unix', dispatch)
  using client = await serving.open()
  const total = MAX_RUNNING_REQUESTS + 100
  for (let id = 1; id <= total; id += 1) client.send(id, ping)
  await until('the limit is reached', () => waiting.length >= MAX_RUNNING_REQUESTS)
  using other = await serving.open() // whose answer comes after everything else the first one had started
  other.send(1)
  await other.reply()
  assert.equal(waiting.length, MAX_RUNNING_REQUESTS)
  for (let answered = 0; answered < total; answered += 1) {
    await until('another one runs', () => waiting.length > answered)
    waiting[answered]!()
  }
  const ids = new Set<number>()
  while (ids.size < total) ids.add((await client.reply())!.requestId)
})

test('a client that disconnects while its connection is full aborts its requests, and starts nothing more', async () => {
  const reasons: unknown[] = []
  let started = 0
  const dispatch = route({
    ping: (_request, given) =>
      new Promise<void>((_resolve, reject) => {
        started += 1
        given.addEventListener('abort', () => {
          reasons.push(given.reason)
          reject(given.reason)
        })
      }),
  })
  await using serving = await serve('unix', dispatch, { times: { probeMs: 5 } })
  const client = await serving.open()
  for (let id = 1; id <= MAX_RUNNING_REQUESTS + 5; id += 1) client.send(id, ping)
  await until('the limit is reached', () => started === MAX_RUNNING_REQUESTS)
  client.hangUp()
  await until('all are aborted', () => reasons.length >= MAX_RUNNING_REQUESTS)
  await until('the connection is closed', () => serving.listener.connections === 0)
  await serving.listener[Symbol.asyncDispose]() // which waits for its own work
  assert.equal(started, MAX_RUNNING_REQUESTS)
})

test('a dispatch that throws, and one that stops early, are errors of that request alone', async () => {
  const dispatch: Dispatch = async function* ({ requestId, msg }) {
    if (requestId === 1) throw new TypeError('x is undefined')
    if (requestId === 2) return
    if (msg?.$case === 'ping') yield { requestId, msg: { $case: 'pong', value: {} } }
  }
  await using serving = await serve('unix', dispatch)
  using client = await serving.open()
  const kinds: unknown[] = []
  for (const id of [1, 2, 3]) {
    client.send(id, ping)
    const reply = await client.reply()
    kinds.push([
      reply?.requestId,
      reply?.msg?.$case === 'error' ? reply.msg.value.detail?.kind : reply?.msg?.$case,
    ])
  }
  assert.deepEqual(kinds, [
    [1, 'internal'],
    [2, 'unavailable'],
    [3, 'pong'],
  ])
})

test('replies after the last one are not sent, and their handler is ended', async () => {
  let isEnded = false
  const dispatch: Dispatch = async function* ({ requestId }) {
    try {
      while (true) yield { requestId, msg: { $case: 'pong', value: {} } }
    } finally {
      isEnded = true
    }
  }
  await using serving = await serve('unix', dispatch)
  using client = await serving.open()
  client.send(1, ping)
  client.halfClose()
  assert.equal((await client.replies()).length, 1)
  assert.ok(isEnded)
})

test('an auth message is answered by the connection, even where no token is required', async () => {
  await using serving = await serve('unix', () => assert.fail('dispatched'))
  using client = await serving.open()
  client.send(5, { $case: 'auth', value: { token: 'any' } })
  assert.deepEqual(idAndCase(await client.reply()), [5, 'pong'])
})

const ID = 3

/** Returns an extension that makes a message this many bytes larger than a frame. */
function filler(type: MessageFns<ClientMessage> | MessageFns<ServerMessage>, excess: number): Uint8Array {
  const sample = type.create({ requestId: ID, msg: { $case: 'extension', value: new Uint8Array(9_000_000) } })
  const overhead = type.encode(sample as never).finish().length - 9_000_000
  return new Uint8Array(MAX_FRAME_BYTES + excess - overhead)
}

function BAD_BYTES(): [string, Uint8Array, RegExp][] {
  return [
    ['a payload that is not a message', encodeFrame(Buffer.from('f2017f', 'hex')), /Cannot decode/],
    ['a length over the limit', Buffer.from('01000001', 'hex'), /16777217 bytes/],
    ['the largest length', Buffer.from('ffffffff', 'hex'), /4294967295 bytes/],
    ['a stream that ends inside a frame', Buffer.from('00000003f2', 'hex'), /ended inside/],
    ['a stream that ends inside a length', Buffer.from('0000', 'hex'), /ended inside/],
  ]
}

function idAndCase(reply: ServerMessage | undefined): [number | undefined, string | undefined] {
  const msg = reply?.msg
  return [reply?.requestId, msg?.$case === 'stream' ? msg.value.event?.$case : msg?.$case]
}

function event($case: 'start' | 'chunk' | 'end', content = ''): StreamEvent {
  return StreamEvent.create({ event: { $case, value: { content } } as never })
}
