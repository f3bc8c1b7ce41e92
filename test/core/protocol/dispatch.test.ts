import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { decodeMessage } from '../../../src/core/protocol/codec.ts'
import {
  AgentEventMsg,
  AgentList,
  ClientMessage,
  ServerMessage,
  SessionInfo,
  StreamEvent,
} from '../../../src/core/protocol/crabtalk.generated.ts'
import {
  type Dispatch,
  type Handlers,
  request,
  requestMany,
  route,
  streamTurn,
} from '../../../src/core/protocol/dispatch.ts'
import { encodeFrame, readFrames } from '../../../src/core/protocol/frame.ts'
import { type Operation, REPLIES } from '../../../src/core/protocol/operations.ts'
import { readProto } from '../../support/proto.ts'

const signal = new AbortController().signal

/** The contract of a Dispatch, in process and with every message encoded as frames and back. */
const SEAMS: Record<string, (handlers: Partial<Handlers>) => Dispatch> = {
  'route()': route,
  'route() behind frames': (handlers) => throughFrames(route(handlers)),
}

for (const [seam, connect] of Object.entries(SEAMS)) {
  test(`${seam} answers once with the result of a handler`, async () => {
    const dispatch = connect({
      getSession: async ({ session }) => SessionInfo.create({ id: session, title: 'Pinned' }),
    })
    const info = await request(dispatch, 'getSession', { session: 's1' }, signal)
    assert.deepEqual(info, SessionInfo.create({ id: 's1', title: 'Pinned' }))
  })

  test(`${seam} answers a handler without a result with pong`, async () => {
    const killed: string[] = []
    const dispatch = connect({
      kill: async ({ agent, sender }) => {
        killed.push(`${agent}/${sender}`)
      },
    })
    assert.deepEqual(await request(dispatch, 'kill', { agent: 'crab', sender: 'ann' }, signal), {})
    assert.deepEqual(killed, ['crab/ann'])
  })

  test(`${seam} yields the events of a turn in order, up to its end`, async () => {
    const dispatch = connect({
      async *stream({ agent, content, sender, options }) {
        yield event('start', { agent, runId: 'r1' })
        yield event('chunk', { content: `${content} ${sender} ${options?.retries}` })
        yield event('end', { agent })
        yield event('notice', { message: 'nobody sees this' })
      },
    })
    const events = streamTurn(dispatch, { agent: 'crab', content: 'hi', options: { retries: 0 } }, signal)
    assert.deepEqual(await Array.fromAsync(events), [
      event('start', { agent: 'crab', runId: 'r1' }),
      event('chunk', { content: 'hi undefined 0' }),
      event('end', { agent: 'crab' }),
    ])
  })

  test(`${seam} carries an error with everything that exit codes and hints need`, async () => {
    const dispatch = connect({
      listModels: async () => {
        throw new CrabError('throttled', 'Cannot list models: slow down', {
          hint: 'wait',
          retryAfterMs: 1500,
        })
      },
    })
    await assert.rejects(request(dispatch, 'listModels', {}, signal), {
      name: 'CrabError',
      kind: 'throttled',
      message: 'Cannot list models: slow down',
      hint: 'wait',
      retryAfterMs: 1500,
    })
  })

  test(`${seam} carries an unexpected error of a handler as internal, also a synchronous one`, async () => {
    const dispatch = connect({
      listSkills: () => {
        throw new TypeError('x is undefined')
      },
    })
    await assert.rejects(request(dispatch, 'listSkills', {}, signal), {
      kind: 'internal',
      message: /x is undefined/,
    })
  })

  test(`${seam} keeps the events before an error`, async () => {
    const dispatch = connect({
      async *stream({ agent }) {
        yield event('start', { agent })
        throw new CrabError('storage', 'Cannot write: the disk is full')
      },
    })
    const events = streamTurn(dispatch, { agent: 'crab' }, signal)
    assert.deepEqual((await events.next()).value, event('start', { agent: 'crab' }))
    await assert.rejects(events.next(), { kind: 'storage' })
  })

  test(`${seam} reports a turn whose events stop before the end`, async () => {
    const dispatch = connect({
      async *stream({ agent }) {
        yield event('start', { agent })
      },
    })
    const events = streamTurn(dispatch, {}, signal)
    await events.next()
    await assert.rejects(events.next(), { kind: 'unavailable' })
  })

  for (const [how, end] of [
    ['fails', { error: 'Cannot go on: it is ending', detail: { kind: 'unavailable' } }],
    ['stops', undefined],
  ] as const) {
    test(`${seam} closes open questions of a turn that ${how}, before its end and once`, async () => {
      const dispatch = connect({
        async *stream() {
          yield event('askUser', { askId: 'answered' })
          yield event('askClosed', { askId: 'answered', by: 'user' })
          yield event('askUser', { askId: 'open' })
          if (end) yield event('end', end)
        },
      })
      const received: unknown[] = []
      const follow = async () => {
        for await (const { event } of streamTurn(dispatch, {}, signal)) {
          received.push(event?.$case === 'askClosed' ? [event.value.askId, event.value.by] : event?.$case)
        }
      }
      if (end) await follow()
      else await assert.rejects(follow(), { kind: 'unavailable' })
      const all = ['askUser', ['answered', 'user'], 'askUser', ['open', 'unavailable']]
      assert.deepEqual(received, end ? [...all, 'end'] : all)
    })
  }

  test(`${seam} echoes the request id in every reply, errors included`, async () => {
    const dispatch = connect({
      async *stream() {
        yield event('start', {})
        throw new CrabError('failed', 'Cannot go on')
      },
    })
    const message = ClientMessage.create({ requestId: 7, msg: { $case: 'stream', value: {} } })
    const replies = await Array.fromAsync(dispatch(message, signal))
    assert.deepEqual(
      replies.map(({ requestId, msg }) => [requestId, msg?.$case]),
      [
        [7, 'stream'],
        [7, 'error'],
      ],
    )
  })

  test(`${seam} answers an empty message with code 400, get_config with 410, extension with 500`, async () => {
    const dispatch = connect({})
    const codes = [
      undefined,
      { $case: 'getConfig', value: {} },
      { $case: 'extension', value: Uint8Array.of(1) },
    ] as const
    const replies = await Promise.all(
      codes.map((msg) => Array.fromAsync(dispatch(ClientMessage.create({ msg }), signal))),
    )
    assert.deepEqual(replies.flat().map(readCode), [400, 410, 500])
  })

  test(`${seam} passes an extension to a host that handles it`, async () => {
    const dispatch = connect({ extension: async (bytes) => bytes.toReversed() })
    const reply = await request(dispatch, 'extension', Uint8Array.of(1, 2), signal)
    assert.deepEqual([...reply], [2, 1])
  })

  test(`${seam} answers every operation without a handler with code 400`, async () => {
    const dispatch = connect({})
    for (const operation of operations.filter((name) => name !== 'extension')) {
      const replies = await Array.fromAsync(dispatch(emptyMessage(operation), signal))
      assert.deepEqual(replies.map(readCode), [400], operation)
    }
  })

  test(`${seam} gives the handler the caller's signal, and carries the cancellation back`, async () => {
    const controller = new AbortController()
    const dispatch = connect({
      ping: async (_request, given) => {
        assert.ok(!given.aborted)
        controller.abort()
        given.throwIfAborted()
        assert.fail('not aborted')
      },
    })
    await assert.rejects(request(dispatch, 'ping', {}, controller.signal), { kind: 'cancelled' })
  })

  test(`${seam} ends the handler when the caller leaves`, async () => {
    let ended = false
    const dispatch = connect({
      async *subscribeEvents() {
        try {
          while (true) yield agentEvent
        } finally {
          ended = true
        }
      },
    })
    for await (const { agent } of requestMany(dispatch, 'subscribeEvents', {}, signal)) {
      assert.equal(agent, 'crab')
      break
    }
    assert.ok(ended)
  })
}

test('REPLIES names a reply for every operation but get_config, as the proto file does', () => {
  assert.deepEqual(
    Object.keys(REPLIES).toSorted(),
    listCases('ClientMessage')
      .filter((name) => name !== 'getConfig')
      .toSorted(),
  )
  const replies = listCases('ServerMessage')
  assert.deepEqual(
    Object.values(REPLIES).filter((name) => !replies.includes(name)),
    [],
  )
})

test('request() rejects a reply of another operation', async () => {
  const dispatch: Dispatch = () => replyWith({ $case: 'agentList', value: AgentList.create() })
  await assert.rejects(request(dispatch, 'listModels', {}, signal), {
    kind: 'internal',
    message: 'Cannot use the reply to list_models: it is agentList',
  })
})

test('request() rejects an unknown reply of a newer peer', async () => {
  const dispatch: Dispatch = () => replyWith(undefined)
  await assert.rejects(request(dispatch, 'ping', {}, signal), { kind: 'internal', message: /it is empty/ })
})

test('request() and streamTurn() report a peer that disconnects without a reply', async () => {
  const dispatch: Dispatch = async function* () {}
  await assert.rejects(request(dispatch, 'ping', {}, signal), { kind: 'unavailable' })
  await assert.rejects(streamTurn(dispatch, {}, signal).next(), { kind: 'unavailable' })
})

test('request() and streamTurn() report why the caller aborted when the replies then stop', async () => {
  const dispatch: Dispatch = async function* () {}
  const late = AbortSignal.abort(new CrabError('timeout', 'Cannot wait any longer'))
  await assert.rejects(request(dispatch, 'ping', {}, late), { kind: 'timeout' })
  await assert.rejects(streamTurn(dispatch, {}, AbortSignal.abort()).next(), { kind: 'cancelled' })
})

test('request() leaves after the first reply', async () => {
  let left = false
  const dispatch: Dispatch = async function* () {
    try {
      yield ServerMessage.create({ msg: { $case: 'pong', value: {} } })
      assert.fail('asked for more')
    } finally {
      left = true
    }
  }
  assert.deepEqual(await request(dispatch, 'ping', {}, signal), {})
  assert.ok(left)
})

const operations = Object.keys(REPLIES) as Operation[]

const agentEvent = AgentEventMsg.create({ agent: 'crab', sender: 'user', content: 'hi' })

type EventCase = NonNullable<StreamEvent['event']>['$case']

function event($case: EventCase, value: object): StreamEvent {
  return StreamEvent.create({ event: { $case, value } as StreamEvent['event'] })
}

function emptyMessage($case: Operation): ClientMessage {
  return ClientMessage.create({ msg: { $case, value: {} } as ClientMessage['msg'] })
}

function readCode({ msg }: ServerMessage): number | undefined {
  return msg?.$case === 'error' ? msg.value.code : undefined
}

function listCases(envelope: string): string[] {
  const { fields } = readProto().messages.get(envelope)!
  return fields.filter(({ oneof }) => oneof !== undefined).map(({ camelName }) => camelName)
}

async function* replyWith(msg: ServerMessage['msg']): AsyncGenerator<ServerMessage> {
  yield { requestId: 0, msg }
}

/** Returns a Dispatch whose messages are encoded, as they would be on a socket. */
function throughFrames(inner: Dispatch): Dispatch {
  return async function* dispatch(message, given) {
    const sent = encodeFrame(ClientMessage.encode(message).finish())
    for await (const payload of readFrames(ReadableStream.from([sent]))) {
      yield* toReplies(inner(decodeMessage(ClientMessage, payload), given))
    }
  }
}

async function* toReplies(replies: AsyncIterable<ServerMessage>): AsyncGenerator<ServerMessage> {
  for await (const payload of readFrames(toFrames(replies))) yield decodeMessage(ServerMessage, payload)
}

async function* toFrames(replies: AsyncIterable<ServerMessage>): AsyncGenerator<Uint8Array> {
  for await (const reply of replies) yield encodeFrame(ServerMessage.encode(reply).finish())
}
