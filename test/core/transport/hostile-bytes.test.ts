import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { AgentEventMsg, StreamEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { request, route } from '../../../src/core/protocol/dispatch.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { until } from '../../support/until.ts'
import { toFrame } from './raw-client.ts'
import { type EndpointKind, type Serving, serve } from './serving.ts'

const { signal } = new AbortController()
const token = 'f'.repeat(64)

const dispatch = route({
  ping: async () => {},
  kill: async () => {},
  extension: async (bytes) => bytes,
  async *stream({ content }) {
    for (const letter of content)
      yield StreamEvent.create({ event: { $case: 'chunk', value: { content: letter } } })
    yield StreamEvent.create({ event: { $case: 'end', value: { agent: 'crab' } } })
  },
  async *subscribeEvents(_request, given) {
    while (!given.aborted) {
      yield AgentEventMsg.create({ agent: 'crab' })
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  },
})

const frames = fc
  .tuple(
    fc.nat(0xffffffff),
    fc.oneof(
      fc.constant({ $case: 'ping', value: {} } as const),
      fc.constant({ $case: 'subscribeEvents', value: {} } as const),
      fc.constant({ $case: 'auth', value: { token } } as const),
      fc.string({ maxLength: 50 }).map((content) => ({ $case: 'stream', value: { content } }) as const),
      fc.uint8Array({ maxLength: 200 }).map((value) => ({ $case: 'extension', value }) as const),
    ),
  )
  .map(([id, msg]) => toFrame(id, msg))
const mutation = fc.record({ at: fc.nat(), removed: fc.nat(4), added: fc.uint8Array({ maxLength: 4 }) })
const mutated = fc
  .tuple(fc.array(frames, { minLength: 1, maxLength: 5 }), fc.array(mutation, { maxLength: 4 }))
  .map(([valid, mutations]) => {
    const bytes = [...Buffer.concat(valid)]
    for (const { at, removed, added } of mutations) bytes.splice(at % (bytes.length + 1), removed, ...added)
    return Uint8Array.from(bytes)
  })
const hostile = fc.record({
  bytes: fc.oneof(fc.uint8Array({ maxLength: 500 }), mutated),
  cuts: fc.array(fc.nat(500), { maxLength: 4 }),
  goodbye: fc.constantFrom('half-closes', 'hangs up', 'resets', 'half-closes and reads'),
})

for (const [kind, options] of [
  ['unix', {}],
  ['tcp', {}],
  ['tcp', { token }],
] satisfies [EndpointKind, { token?: string }][]) {
  const name = `${kind}${options.token ? ' with a token' : ''}`
  test(`after any bytes over ${name}, the daemon still answers and keeps no connection`, async () => {
    await using serving = await serve(kind, dispatch, {
      ...options,
      times: { lingerMs: 20, probeMs: 5, heartbeatMs: 5 },
    })
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 8 }), async (clients) => {
        await Promise.all(clients.map((client) => attack(serving, client)))
        assert.deepEqual(await request(serving.dispatch, 'ping', {}, signal), {})
      }),
      { numRuns: propertyRuns(150) },
    )
    await until('no connection is open', () => serving.listener.connections === 0)
    assert.deepEqual(serving.errors, [])
  })
}

async function attack(
  serving: Serving,
  { bytes, cuts, goodbye }: { bytes: Uint8Array; cuts: number[]; goodbye: string },
) {
  using client = await serving.open()
  const places = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length]
  for (const [index, end] of places.slice(1).entries()) {
    await new Promise((resolve) => client.socket.write(bytes.subarray(places[index], end), resolve))
  }
  if (goodbye.startsWith('half-closes')) client.halfClose()
  if (goodbye === 'resets' && serving.endpoint.kind === 'tcp') client.socket.resetAndDestroy()
  if (goodbye === 'half-closes and reads') await client.reply().catch(() => undefined)
}
