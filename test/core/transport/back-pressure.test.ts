import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StreamEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { type Handlers, request, route, streamTurn } from '../../../src/core/protocol/dispatch.ts'
import { until } from '../../support/until.ts'
import { type EndpointKind, serve } from './serving.ts'

const turn = { $case: 'stream', value: { content: 'hi' } } as const
const { signal } = new AbortController()
const CHUNK = 'x'.repeat(32 * 1024)
/** More than the kernel and both ends' buffers can hold together. */
const BOUND = 24 * 1024 * 1024
const CHUNKS = (2 * BOUND) / CHUNK.length

for (const kind of ['unix', 'tcp'] satisfies EndpointKind[]) {
  test(`a client that does not read over ${kind} stalls its own turn only`, async () => {
    const made: Record<string, number> = {}
    await using serving = await serve(kind, route({ stream: flood(made), ping: async () => {} }))
    using lazy = await serving.open()
    lazy.send(1, { $case: 'stream', value: { sender: 'lazy' } })
    await until('it stalls', async () => {
      const before = made['lazy']
      for (let round = 0; round < 20; round += 1) await request(serving.dispatch, 'ping', {}, signal)
      return before !== undefined && made['lazy'] === before
    })
    assert.ok(made['lazy']! * CHUNK.length < BOUND, `${made['lazy']} chunks were made for nobody`)
    let events = 0
    for await (const _ of streamTurn(serving.dispatch, { sender: 'eager' }, signal)) events += 1
    assert.equal(events, CHUNKS + 1)
    let read = 0
    while (read < CHUNKS + 1) {
      assert.ok(await lazy.payload())
      read += 1
    }
  })

  test(`a client that leaves the replies of socketDispatch() unread stalls its turn over ${kind}`, async () => {
    const made: Record<string, number> = {}
    await using serving = await serve(kind, route({ stream: flood(made), ping: async () => {} }))
    const events = streamTurn(serving.dispatch, { sender: 'lazy' }, signal)
    await events.next()
    await until('it stalls', async () => {
      const before = made['lazy']
      for (let round = 0; round < 20; round += 1) await request(serving.dispatch, 'ping', {}, signal)
      return made['lazy'] === before
    })
    assert.ok(made['lazy']! * CHUNK.length < BOUND)
    await events.return(undefined)
  })
}

test('many stalled requests of one connection hold one reply each', async () => {
  const made: Record<string, number> = {}
  await using serving = await serve('unix', route({ stream: flood(made), ping: async () => {} }))
  using lazy = await serving.open()
  const senders = Array.from({ length: 100 }, (_, index) => `s${index}`)
  for (const [index, sender] of senders.entries())
    lazy.send(index + 1, { $case: 'stream', value: { sender } })
  await until('all stall', async () => {
    const before = JSON.stringify(made)
    for (let round = 0; round < 20; round += 1) await request(serving.dispatch, 'ping', {}, signal)
    return Object.keys(made).length === senders.length && JSON.stringify(made) === before
  })
  const total = Object.values(made).reduce((sum, count) => sum + count, 0)
  assert.ok(total * CHUNK.length < BOUND, `${total} chunks were made for nobody`)
})

test('a client that disconnects without reading ends its stalled turn', async () => {
  const made: Record<string, number> = {}
  let isEnded = false
  const stream: Handlers['stream'] = async function* (message, given) {
    try {
      yield* flood(made)(message, given)
    } finally {
      isEnded = true
    }
  }
  await using serving = await serve('unix', route({ stream }))
  const lazy = await serving.open()
  lazy.send(1, turn)
  await until('it has begun', () => made['']! > 8)
  lazy.hangUp()
  await until('it is ended', () => isEnded)
  await until('the connection is closed', () => serving.listener.connections === 0)
})

/** Returns a turn with far more chunks than any buffer holds, counted by sender. */
function flood(made: Record<string, number>): Handlers['stream'] {
  return async function* ({ sender = '' }) {
    made[sender] = 0
    for (let chunk = 0; chunk < CHUNKS; chunk += 1) {
      made[sender] += 1
      yield StreamEvent.create({ event: { $case: 'chunk', value: { content: CHUNK } } })
    }
    yield StreamEvent.create({ event: { $case: 'end', value: { agent: 'crab' } } })
  }
}
