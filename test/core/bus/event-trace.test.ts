import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EventTrace, type FiredRun, headBytes } from '../../../src/core/bus/event-trace.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('EventTrace returns an event, or those of a run, with all their consequences, and nothing else', () => {
  const trace = new EventTrace()
  const first = trace.add(event('e1'), 1)
  trace.addRun(first, fired('r1'))
  trace.addRun(first, fired('r2'))
  trace.add(event('e2'), 2)
  const third = trace.add({ ...event('e3'), runId: 'r2', depth: 1 }, 3)
  trace.addRun(third, fired('r3'))
  trace.add({ ...event('e4'), runId: 'other' }, 4)
  trace.add({ ...event('e5'), runId: 'r3', depth: 2 }, 5)
  const ids = (id: string) => trace.findChain(id).map((one) => one.id)
  assert.deepEqual(ids('e1'), ['e1', 'e3', 'e5'])
  assert.deepEqual(ids('e3'), ['e3', 'e5'])
  assert.deepEqual(ids('r2'), ['e3', 'e5'])
  assert.deepEqual(ids('r1'), [], 'a run that published nothing is known')
  assert.throws(() => ids('e9'), { kind: 'missing' })
  assert.deepEqual(
    trace.latest(2).map(({ id }) => id),
    ['e4', 'e5'],
  )
})

test('runs are followed to their end, except those that no event started', () => {
  const trace = new EventTrace()
  const traced = trace.add(event('e1'), 1)
  trace.addRun(traced, fired('r1'))
  trace.startRun('stranger')
  trace.endRun('stranger', 'done')
  trace.startRun('r1')
  assert.equal(traced.fired[0]?.state, 'running')
  trace.endRun('r1', 'failed', 'why')
  trace.startRun('r1')
  assert.deepEqual([traced.fired[0]?.state, traced.fired[0]?.error], ['failed', 'why'])
})

test('1,000 events are kept, with 1,024 bytes of each payload', () => {
  const trace = new EventTrace()
  for (let index = 0; index < 1005; index++)
    trace.add({ ...event(`e${index}`), payload: '€'.repeat(1000) }, index)
  const events = trace.latest(5000)
  assert.deepEqual([events.length, events[0]?.id, events.at(-1)?.id], [1000, 'e5', 'e1004'])
  assert.equal(events[0]?.payload, '€'.repeat(341))
  assert.throws(() => trace.add(event('e1004'), 0), { kind: 'conflict' })
  assert.throws(() => trace.findChain('e4'), { kind: 'missing', message: /e4/ })
})

test('headBytes() returns as many whole characters as fit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, bytes) => {
      const head = headBytes(text, bytes)
      assert.ok(text.startsWith(head))
      assert.ok(Buffer.byteLength(head) <= bytes)
      const next = text.codePointAt(head.length)
      const more = next === undefined ? 0 : Buffer.byteLength(String.fromCodePoint(next))
      assert.ok(head === text || Buffer.byteLength(head) + more > bytes)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

function event(id: string) {
  return { id, source: 's', payload: 'p', runId: '', depth: 0 }
}

function fired(runId: string): FiredRun {
  return { subscriptionId: 1, agent: 'crab', sender: 'event:s', runId, state: 'waiting', error: '' }
}
