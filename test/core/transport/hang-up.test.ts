import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AttachEvent,
  type ClientMessage,
  type DeepPartial,
  HelloInfo,
  SendResponse,
  StreamEvent,
} from '../../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, type Handlers, route, streamTurn } from '../../../src/core/protocol/dispatch.ts'
import { until } from '../../support/until.ts'
import type { RawClient } from './raw-client.ts'
import { type EndpointKind, serve } from './serving.ts'

const turn = { $case: 'stream', value: { content: 'hi' } } as const
const times = { probeMs: 5, heartbeatMs: 5 }

/** The ways a client disconnects. */
const GOODBYES: Record<string, (client: RawClient) => void | Promise<void>> = {
  'closes its connection': (client) => client.hangUp(),
  'half-closes and then closes': async (client) => {
    const ended = new Promise((resolve) => client.socket.once('finish', resolve))
    client.halfClose()
    await ended
    client.hangUp()
  },
}

for (const kind of ['unix', 'tcp', 'pipe'] satisfies EndpointKind[]) {
  for (const [goodbye, leave] of Object.entries(GOODBYES)) {
    test(`a client that ${goodbye} over ${kind} aborts its silent turn`, async () => {
      const silent = silentTurn()
      await using serving = await serve(kind, silent.dispatch, { times })
      using client = await serving.open()
      client.send(1, turn)
      await silent.started
      await leave(client)
      assert.deepEqual(await silent.aborted, {
        kind: 'cancelled',
        message: 'Cancelled: the client disconnected',
      })
      await until('the connection is closed', () => serving.listener.connections === 0)
    })
  }

  test(`aborting a turn of socketDispatch() over ${kind} aborts it at the daemon, while it is silent`, async () => {
    const silent = silentTurn()
    await using serving = await serve(kind, silent.dispatch, { times })
    const controller = new AbortController()
    const events = Array.fromAsync(streamTurn(serving.dispatch, { content: 'hi' }, controller.signal))
    await silent.started
    controller.abort()
    await assert.rejects(events, { kind: 'cancelled' })
    assert.equal((await silent.aborted).kind, 'cancelled')
  })

  test(`leaving the replies of socketDispatch() over ${kind} aborts the turn at the daemon`, async () => {
    const silent = silentTurn([StreamEvent.create({ event: { $case: 'start', value: { agent: 'crab' } } })])
    await using serving = await serve(kind, silent.dispatch, { times })
    const { signal } = new AbortController()
    for await (const { event } of streamTurn(serving.dispatch, { content: 'hi' }, signal)) {
      assert.equal(event?.$case, 'start')
      break
    }
    assert.equal((await silent.aborted).kind, 'cancelled')
  })

  test(`a client that only half-closes over ${kind} is waited for, however long its turn is silent`, async () => {
    const go = Promise.withResolvers<void>()
    const dispatch = route({
      async *stream(_request, signal) {
        await go.promise
        signal.throwIfAborted()
        yield StreamEvent.create({ event: { $case: 'end', value: { agent: 'crab' } } })
      },
    })
    await using serving = await serve(kind, dispatch, { times: { probeMs: 1, heartbeatMs: 1 } })
    using client = await serving.open()
    client.send(4, turn)
    client.halfClose()
    if (kind === 'tcp') await twoHeartbeats(client, 4)
    go.resolve()
    const events = (await client.replies()).map(
      ({ msg }) => msg?.$case === 'stream' && msg.value.event?.$case,
    )
    assert.equal(events.at(-1), 'end')
    assert.ok(events.slice(0, -1).every((event) => event === undefined))
  })
}

test('a closed Unix connection is noticed immediately, not at the next probe', async () => {
  const silent = silentTurn()
  await using serving = await serve('unix', silent.dispatch, { times: { probeMs: 3_600_000 } })
  using client = await serving.open()
  client.send(1, turn)
  await silent.started
  client.hangUp()
  assert.equal((await silent.aborted).kind, 'cancelled')
})

for (const kind of ['unix', 'tcp'] satisfies EndpointKind[]) {
  test(`a client that half-closes over ${kind}, and leaves much later, is noticed by a probe`, async () => {
    const silent = silentTurn()
    await using serving = await serve(kind, silent.dispatch, { times })
    using client = await serving.open()
    client.send(1, turn)
    client.halfClose()
    await silent.started
    for (let round = 0; round < 5; round += 1) {
      using other = await serving.open() // the daemon has seen what came before it
      other.send(2, { $case: 'ping', value: {} })
      await other.reply()
    }
    client.hangUp()
    assert.equal((await silent.aborted).kind, 'cancelled')
  })
}

test('a client that disconnects aborts every request of its connection, and of no other', async () => {
  const aborted: number[] = []
  const dispatch: Dispatch = async function* ({ requestId }, signal) {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    aborted.push(requestId)
    yield* []
  }
  await using serving = await serve('unix', dispatch)
  using other = await serving.open()
  other.send(9, turn)
  using client = await serving.open()
  for (const id of [1, 2, 3]) client.send(id, turn)
  await until('both are served', () => serving.listener.connections === 2)
  client.hangUp()
  await until('its connection is closed', () => serving.listener.connections === 1)
  await until('its requests are aborted', () => aborted.length >= 3)
  assert.deepEqual(aborted.toSorted(), [1, 2, 3])
})

test('a follower over TCP that half-closes gets empty heartbeats', async () => {
  const dispatch = route({ attach: waitForever<'attach'> })
  await using serving = await serve('tcp', dispatch, { times })
  using client = await serving.open()
  client.send(6, { $case: 'attach', value: { agent: 'crab' } })
  client.halfClose()
  const reply = await client.reply()
  assert.deepEqual(reply, { requestId: 6, msg: { $case: 'attach', value: AttachEvent.create() } })
  client.hangUp()
  await until('the connection is closed', () => serving.listener.connections === 0)
})

const UNEVENTFUL: Record<string, DeepPartial<NonNullable<ClientMessage['msg']>>> = {
  'a subscription': { $case: 'subscribeEvents', value: {} },
  'a send': { $case: 'send', value: { content: 'hi' } },
}
for (const [what, msg] of Object.entries(UNEVENTFUL)) {
  test(`a client with ids that disconnects over TCP aborts ${what}, which has no events for probes`, async () => {
    const aborted = Promise.withResolvers<void>()
    const dispatch: Dispatch = async function* (_message, signal) {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      aborted.resolve()
      yield* []
    }
    await using serving = await serve('tcp', dispatch, { times })
    using client = await serving.open()
    client.send(3, msg)
    client.hangUp()
    await aborted.promise
    await until('the connection is closed', () => serving.listener.connections === 0)
  })
}

test('an old client over TCP that half-closes after a send gets only its answer', async () => {
  const go = Promise.withResolvers<void>()
  const dispatch = route({
    send: async () => {
      await go.promise
      return SendResponse.create({ content: 'late' })
    },
  })
  await using serving = await serve('tcp', dispatch, { times: { probeMs: 1, heartbeatMs: 1 } })
  using client = await serving.open()
  client.send(0, { $case: 'send', value: { content: 'hi' } })
  client.halfClose()
  using other = await serving.open()
  other.send(1, turn)
  other.halfClose()
  await other.reply()
  go.resolve()
  assert.deepEqual(
    (await client.replies()).map(({ msg }) => msg?.$case),
    ['response'],
  )
})

test('a fixed-protocol client over TCP that half-closes after a turn gets no event without a case, and no added one', async () => {
  const go = Promise.withResolvers<void>()
  const dispatch = route({
    async *stream() {
      await go.promise
      yield StreamEvent.create({ event: { $case: 'notice', value: { message: 'look' } } })
      yield StreamEvent.create({ event: { $case: 'end', value: { agent: 'crab' } } })
    },
  })
  await using serving = await serve('tcp', dispatch, { times: { probeMs: 1, heartbeatMs: 1 } })
  using old = await serving.open()
  using current = await serving.open()
  old.send(0, turn)
  current.send(1, turn)
  for (const client of [old, current]) client.halfClose()
  await twoHeartbeats(current, 1)
  go.resolve()
  const [fixed, all] = await Promise.all([readCases(old), readCases(current)])
  assert.deepEqual(fixed, ['end'])
  assert.deepEqual(
    all.filter((event) => event !== undefined),
    ['notice', 'end'],
  )
})

test('hello on a connection without ids shows that its client knows the additions', async () => {
  const dispatch = route({
    hello: async () => HelloInfo.create({ version: 1 }),
    async *stream() {
      yield StreamEvent.create({ event: { $case: 'notice', value: { message: 'look' } } })
      yield StreamEvent.create({ event: { $case: 'end', value: { agent: 'crab' } } })
    },
  })
  await using serving = await serve('unix', dispatch)
  using client = await serving.open()
  client.send(0, { $case: 'hello', value: { versions: [1] } })
  client.send(0, turn)
  client.halfClose()
  assert.deepEqual((await readCases(client)).slice(1), ['notice', 'end'])
})

async function readCases(client: RawClient): Promise<(string | undefined)[]> {
  return (await client.replies()).map(({ msg }) =>
    msg?.$case === 'stream' ? msg.value.event?.$case : 'other',
  )
}

async function twoHeartbeats(client: RawClient, id: number): Promise<void> {
  for (let count = 0; count < 2; count += 1) {
    const reply = await client.reply()
    assert.deepEqual(reply, { requestId: id, msg: { $case: 'stream', value: StreamEvent.create() } })
  }
}

/** Returns a turn that says nothing (more) until it is aborted. */
function silentTurn(events: StreamEvent[] = []) {
  const started = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<{ kind: string; message: string }>()
  const stream: Handlers['stream'] = async function* (_request, signal) {
    started.resolve()
    yield* events
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    aborted.resolve({ kind: signal.reason.kind, message: signal.reason.message })
  }
  return { dispatch: route({ stream }), started: started.promise, aborted: aborted.promise }
}

async function* waitForever<O extends 'attach'>(
  ..._args: Parameters<Handlers[O]>
): AsyncGenerator<AttachEvent> {
  const signal = _args[1]
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}
