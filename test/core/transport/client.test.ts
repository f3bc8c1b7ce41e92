import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { decodeMessage } from '../../../src/core/protocol/codec.ts'
import {
  ClientMessage,
  type DeepPartial,
  ServerMessage,
  StreamEvent,
} from '../../../src/core/protocol/crabtalk.generated.ts'
import { request, requestMany, streamTurn } from '../../../src/core/protocol/dispatch.ts'
import { encodeFrame, readFrames } from '../../../src/core/protocol/frame.ts'
import { socketDispatch } from '../../../src/core/transport/client.ts'
import { connectEndpoint, isNotListening } from '../../../src/core/transport/connect.ts'
import type { SocketEndpoint } from '../../../src/core/transport/endpoint.ts'
import { until } from '../../support/until.ts'

const { signal } = new AbortController()
const ping = ClientMessage.create({ requestId: 40, msg: { $case: 'ping', value: {} } })
const pong = { $case: 'pong', value: {} } as const
const refusal = { $case: 'error', value: { code: 404, message: 'no' } } as const

test('socketDispatch() sends the request as 1, after the token if there is one, and gives the caller its own id', async () => {
  const daemon = startScripted((socket, message) => {
    if (message.msg?.$case === 'ping') socket.write(frame(1, pong))
    else socket.write(frame(2, pong))
  })
  for (const token of [undefined, 'x'.repeat(40)]) {
    await using served = await daemon.start()
    const { endpoint } = served
    const replies = await Array.fromAsync(socketDispatch({ endpoint, ...(token && { token }) })(ping, signal))
    assert.deepEqual(replies, [{ requestId: 40, msg: pong }])
    const sent = served.received.map(({ requestId, msg }) => [requestId, msg?.$case])
    assert.deepEqual(
      sent,
      token
        ? [
            [2, 'auth'],
            [1, 'ping'],
          ]
        : [[1, 'ping']],
    )
    await until('it has hung up', () => served.open === 0)
  }
})

test('socketDispatch() ends for a signal that aborts exactly when the connection opens', async () => {
  await using served = await startScripted(() => undefined).start()
  const controller = new AbortController()
  const signal = controller.signal
  const remove = signal.removeEventListener.bind(signal)
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    remove(...args) // the connect listener is gone, and the next one is not added yet
    controller.abort()
  }
  await assert.rejects(request(socketDispatch(served), 'ping', {}, signal), { kind: 'cancelled' })
})

test('socketDispatch() accepts a daemon that echoes no ids', async () => {
  await using served = await startScripted((socket) => socket.write(frame(0, pong))).start()
  assert.deepEqual(await request(socketDispatch(served), 'ping', {}, signal), {})
})

test('socketDispatch() ends with the last reply of each operation, and disconnects', async () => {
  await using served = await startScripted((socket, { msg }) => {
    if (msg?.$case === 'stream')
      for (const name of ['start', 'chunk', 'end', 'chunk'] as const) socket.write(event(name))
    else if (msg?.$case === 'subscribeEvents') {
      for (const content of ['a', 'b']) socket.write(frame(1, { $case: 'agentEvent', value: { content } }))
      socket.write(frame(1, refusal))
    } else for (const _ of [1, 2]) socket.write(frame(1, pong))
  }).start()
  const dispatch = socketDispatch(served)
  const cases = async (msg: DeepPartial<ClientMessage['msg']>) => {
    const replies = await Array.fromAsync(dispatch(ClientMessage.create({ ...(msg && { msg }) }), signal))
    return replies.map((reply) => reply.msg?.$case)
  }
  assert.deepEqual(await cases({ $case: 'stream', value: {} }), ['stream', 'stream', 'stream'])
  assert.deepEqual(await cases({ $case: 'subscribeEvents', value: {} }), [
    'agentEvent',
    'agentEvent',
    'error',
  ])
  assert.deepEqual(await cases({ $case: 'ping', value: {} }), ['pong'])
  assert.deepEqual(await cases({ $case: 'getConfig', value: {} }), ['pong'])
  assert.deepEqual(await cases(undefined), ['pong'])
  await until('it has hung up', () => served.open === 0)
})

test('socketDispatch() skips unknown events', async () => {
  await using served = await startScripted((socket) => {
    socket.write(frame(1, { $case: 'stream', value: StreamEvent.create() }))
    socket.write(event('end'))
  }).start()
  const events = await Array.fromAsync(streamTurn(socketDispatch(served), {}, signal))
  assert.deepEqual(
    events.map((one) => one.event?.$case),
    ['end'],
  )
})

const BROKEN: Record<string, [kind: string, reply: (socket: Socket) => void]> = {
  'closes without a reply': ['unavailable', (socket) => void socket.end()],
  'closes in the middle of a turn': ['unavailable', (socket) => void socket.end(event('start'))],
  'closes inside a frame': ['unavailable', (socket) => void socket.end(event('start').subarray(0, 6))],
  'resets the connection': ['unavailable', (socket) => void socket.resetAndDestroy()],
  'sends bytes that are not a message': [
    'internal',
    (socket) => void socket.end(Buffer.from('00000003f2017f', 'hex')),
  ],
  'sends a frame over the limit': ['internal', (socket) => void socket.end(Buffer.from('01000001', 'hex'))],
  'answers an unknown request': ['internal', (socket) => void socket.end(frame(77, pong))],
}
for (const [what, [kind, reply]] of Object.entries(BROKEN)) {
  test(`a daemon that ${what} is one error reply: ${kind}`, async () => {
    await using served = await startScripted(reply, 'tcp').start()
    const message = ClientMessage.create({ requestId: 6, msg: { $case: 'stream', value: {} } })
    const last = (await Array.fromAsync(socketDispatch(served)(message, signal))).at(-1)
    assert.equal(last?.requestId, 6)
    assert.equal(last.msg?.$case === 'error' && last.msg.value.detail?.kind, kind)
  })
}

test('a daemon that disconnects in a turn is unavailable, with a hint', async () => {
  await using served = await startScripted((socket) => void socket.end(event('start'))).start()
  const turn = streamTurn(socketDispatch(served), {}, signal)
  await turn.next()
  await assert.rejects(turn.next(), {
    kind: 'unavailable',
    message: 'Cannot finish stream: the connection to the daemon was lost',
    hint: /daemon\.log/,
  })
})

test('a missing daemon is one error reply, and connect() distinguishes it from other errors', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-net-'))
  const missing: SocketEndpoint = { kind: 'unix', path: join(directory.path, 'none.sock') }
  const served = await startScripted(() => undefined, 'tcp').start()
  await served[Symbol.asyncDispose]()
  for (const endpoint of [missing, served.endpoint]) {
    await assert.rejects(request(socketDispatch({ endpoint }), 'ping', {}, signal), {
      kind: 'unavailable',
      message: /^Cannot reach a daemon at /,
      hint: /daemon run/,
    })
    await assert.rejects(connectEndpoint(endpoint, signal), isNotListening)
  }
  const tooLong = { kind: 'unix', path: join(directory.path, 'a'.repeat(200)) } as const
  await assert.rejects(
    connectEndpoint(tooLong, signal),
    (reason) => !isNotListening(reason) && (reason as CrabError).kind === 'unavailable',
  )
})

test('connect() retries when the backlog is full', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-net-'))
  const path = join(directory.path, 'sock')
  let accepted = 0
  const server = createServer((socket) => {
    accepted += 1
    socket.end()
  })
  await new Promise<void>((resolve) => void server.listen({ path, backlog: 1 }, resolve))
  const attempts = Array.from({ length: 50 }, () => connectEndpoint({ kind: 'unix', path }, signal))
  for (const socket of await Promise.all(attempts)) socket.destroy()
  await until('each is accepted', () => accepted === 50)
  await new Promise((resolve) => server.close(resolve))
  assert.equal(accepted, 50)
})

test('an aborted signal prevents socketDispatch() from connecting, and its reason is the error', async () => {
  await using served = await startScripted((socket) => socket.write(frame(1, pong))).start()
  const late = AbortSignal.abort(new CrabError('timeout', 'Cannot wait any longer'))
  await assert.rejects(request(socketDispatch(served), 'ping', {}, late), { kind: 'timeout' })
  await assert.rejects(connectEndpoint(served.endpoint, AbortSignal.abort()), { kind: 'cancelled' })
  assert.equal(served.accepted, 0)
})

test('aborting socketDispatch() while it waits disconnects immediately, with the reason as the error', async () => {
  await using served = await startScripted(() => undefined).start()
  const controller = new AbortController()
  const replies = Array.fromAsync(
    requestMany(socketDispatch(served), 'subscribeEvents', {}, controller.signal),
  )
  await until('it is asked', () => served.received.length === 1)
  controller.abort(new CrabError('timeout', 'Cannot wait any longer'))
  await assert.rejects(replies, { kind: 'timeout' })
  await until('it has hung up', () => served.open === 0)
})

test('leaving socketDispatch() disconnects', async () => {
  await using served = await startScripted((socket) => void socket.write(event('start'))).start()
  for await (const _ of streamTurn(socketDispatch(served), {}, signal)) break
  await until('it has hung up', () => served.open === 0)
})

test('a request that exceeds a frame is invalid, and is not sent', async () => {
  await using served = await startScripted(() => undefined).start()
  const content = 'x'.repeat(17 * 1024 * 1024)
  await assert.rejects(request(socketDispatch(served), 'send', { content }, signal), { kind: 'invalid' })
  assert.equal(served.accepted, 0)
})

interface ScriptedDaemon extends AsyncDisposable {
  endpoint: SocketEndpoint
  received: ClientMessage[]
  accepted: number
  open: number
}

/** Starts a daemon that answers each message with the test's bytes. */
function startScripted(
  reply: (socket: Socket, message: ClientMessage) => void,
  kind: 'unix' | 'tcp' = 'unix',
) {
  return {
    async start(): Promise<ScriptedDaemon> {
      const directory = await mkdtempDisposable(join(tmpdir(), 'crab-net-'))
      const sockets = new Set<Socket>()
      const server = createServer(async (socket) => {
        served.accepted += 1
        served.open += 1
        sockets.add(socket)
        socket
          .on('error', () => undefined)
          .on('close', () => {
            served.open -= 1
          })
        try {
          for await (const payload of readFrames(socket.iterator({ destroyOnReturn: false }))) {
            const message = decodeMessage(ClientMessage, payload)
            served.received.push(message)
            reply(socket, message)
          }
        } catch {
          // the client hung up
        }
      })
      const path = join(directory.path, 'sock')
      await new Promise<void>(
        (resolve) => void server.listen(kind === 'tcp' ? { port: 0, host: '127.0.0.1' } : { path }, resolve),
      )
      const address = server.address()
      const served: ScriptedDaemon = {
        endpoint:
          typeof address === 'string' || address === null
            ? { kind: 'unix', path }
            : { kind: 'tcp', host: '127.0.0.1', port: address.port },
        received: [],
        accepted: 0,
        open: 0,
        async [Symbol.asyncDispose]() {
          for (const socket of sockets) socket.destroy()
          await new Promise((resolve) => server.close(resolve))
          await directory[Symbol.asyncDispose]()
        },
      }
      return served
    },
  }
}

function frame(requestId: number, msg: DeepPartial<ServerMessage['msg']>): Uint8Array {
  return encodeFrame(ServerMessage.encode(ServerMessage.create({ requestId, ...(msg && { msg }) })).finish())
}

function event($case: 'start' | 'chunk' | 'end'): Uint8Array {
  return frame(1, { $case: 'stream', value: { event: { $case, value: {} } } } as never)
}
