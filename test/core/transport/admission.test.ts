import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { request, route } from '../../../src/core/protocol/dispatch.ts'
import { socketDispatch } from '../../../src/core/transport/client.ts'
import { until } from '../../support/until.ts'
import { toFrame } from './raw-client.ts'
import { type EndpointKind, serve } from './serving.ts'

const token = 'f'.repeat(64)
const ping = { $case: 'ping', value: {} } as const
const { signal } = new AbortController()
const auth = (shown: string) => ({ $case: 'auth', value: { token: shown } }) as const

for (const kind of ['tcp', 'unix'] satisfies EndpointKind[]) {
  test(`a client over ${kind} with the token is served, also when it does not wait for pong`, async () => {
    await using serving = await serve(kind, route({ ping: async () => {} }), { token })
    using client = await serving.open()
    client.write(Buffer.concat([toFrame(1, auth(`${token}\n`)), toFrame(2, ping), toFrame(3, ping)]))
    for (const id of [1, 2, 3]) {
      const reply = await client.reply()
      assert.deepEqual([reply?.requestId, reply?.msg?.$case], [id, 'pong'])
    }
    assert.deepEqual(await request(serving.dispatch, 'ping', {}, signal), {})
  })

  const refused: Record<string, [first: Uint8Array, code: number, id: number, message: RegExp]> = {
    'another token': [toFrame(1, auth('e'.repeat(64))), 403, 1, /its token is unknown/],
    'a part of the token': [toFrame(1, auth('f'.repeat(63))), 403, 1, /its token is unknown/],
    'an empty token': [toFrame(1, auth('')), 403, 1, /its token is unknown/],
    'another message first': [toFrame(4, ping), 403, 4, /first message is not auth/],
    'an empty message first': [toFrame(0), 403, 0, /first message is not auth/],
    'a first message of more than 4 KiB': [toFrame(1, auth('f'.repeat(4096))), 400, 0, /limit is 4096/],
  }
  for (const [what, [first, code, id, message]] of Object.entries(refused)) {
    test(`a client over ${kind} with ${what} is refused, and none of its messages is dispatched`, async () => {
      await using serving = await serve(kind, () => assert.fail('dispatched'), {
        token,
        times: { lingerMs: 20 },
      })
      using client = await serving.open()
      client.write(Buffer.concat([first, toFrame(9, ping), toFrame(9, auth(token)), toFrame(9, ping)]))
      const replies = await client.replies()
      assert.deepEqual(
        replies.map(({ requestId, msg }) => [requestId, msg?.$case === 'error' && msg.value.code]),
        [[id, code]],
      )
      const error = replies[0]!.msg
      assert.match(error?.$case === 'error' ? error.value.message : '', message)
      await until(
        'the connection is closed, though the client stays',
        () => serving.listener.connections === 0,
      )
    })
  }

  for (const sent of ['', '00000010fa']) {
    test(`a client over ${kind} that does not authenticate in time is refused, after sending "${sent}"`, async () => {
      await using serving = await serve(kind, () => assert.fail('dispatched'), {
        token,
        times: { authMs: 20 },
      })
      using client = await serving.open()
      client.write(sent)
      const replies = await client.replies()
      assert.deepEqual(
        replies.map(({ msg }) => msg?.$case === 'error' && [msg.value.code, msg.value.message]),
        [[403, 'Cannot use this connection: no token arrived in time']],
      )
      assert.deepEqual(serving.refused, ['no token arrived in time'])
      client.write(Buffer.concat([toFrame(1, auth(token)), toFrame(2, ping)]))
      client.hangUp()
      await until('the connection is closed', () => serving.listener.connections === 0)
    })
  }

  test(`an authenticated client over ${kind} may stay silent for any time`, async () => {
    await using serving = await serve(kind, route({ ping: async () => {} }), { token, times: { authMs: 20 } })
    using client = await serving.open()
    client.send(1, auth(token))
    await client.reply()
    using late = await serving.open()
    assert.equal((await late.replies()).length, 1) // its time, which began later, is over
    client.send(2, ping)
    assert.equal((await client.reply())?.msg?.$case, 'pong')
  })

  test(`revoking a token ends the requests of a ${kind} connection, and closes it`, async () => {
    const started = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<unknown>()
    const dispatch = route({
      async *subscribeEvents(_, signal) {
        signal.addEventListener('abort', () => ended.resolve(signal.reason))
        started.resolve()
        await ended.promise
      },
    })
    await using serving = await serve(kind, dispatch, { token })
    using client = await serving.open()
    client.send(1, auth(token))
    client.send(2, { $case: 'subscribeEvents', value: { kinds: [] } })
    await started.promise
    const why = new CrabError('denied', 'revoked')
    serving.revoke(why)
    assert.equal(await ended.promise, why)
    const replies = await client.replies()
    assert.ok(replies.some(({ msg }) => msg?.$case === 'error' && msg.value.code === 403))
    await until('the connection is closed', () => serving.listener.connections === 0)
    using late = await serving.open()
    late.send(1, auth(token))
    assert.equal((await late.reply())?.msg?.$case, 'error')
    assert.deepEqual(serving.refused, ['its token is unknown'])
  })

  test(`a wrong token in the middle closes a ${kind} connection`, async () => {
    await using serving = await serve(kind, route({ ping: async () => {} }), { token })
    using client = await serving.open()
    client.send(1, auth(token))
    client.send(2, auth('wrong'))
    client.send(3, ping)
    const replies = await client.replies()
    assert.deepEqual(
      replies.map(({ requestId, msg }) => [requestId, msg?.$case]),
      [
        [1, 'pong'],
        [2, 'error'],
      ],
    )
  })

  test(`socketDispatch() over ${kind} reports a refused or missing token as denied`, async () => {
    await using serving = await serve(kind, route({ ping: async () => {} }), { token })
    const { endpoint } = serving
    for (const peer of [{ endpoint }, { endpoint, token: 'wrong' }]) {
      await assert.rejects(request(socketDispatch(peer), 'ping', {}, signal), {
        kind: 'denied',
        hint: /tcp\.token/,
      })
    }
  })
}

test('unauthenticated clients have only a few connections, and do not block others', async () => {
  await using serving = await serve('tcp', route({ ping: async () => {} }), {
    token,
    times: { authMs: 600_000 },
  })
  await using strangers = new AsyncDisposableStack()
  for (let at = 0; at < 200; at++) strangers.use(await serving.open())
  await until('the oldest are gone', () => serving.listener.connections <= 64)
  assert.deepEqual([...new Set(serving.refused)], ['too many connections have not sent a token'])
  await using friend = await serving.open()
  friend.write(toFrame(1, auth(token)))
  assert.equal((await friend.reply())?.msg?.$case, 'pong')
  for (let at = 0; at < 100; at++) strangers.use(await serving.open())
  friend.write(toFrame(2, ping))
  assert.equal((await friend.reply())?.msg?.$case, 'pong')
})
