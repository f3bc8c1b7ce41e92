import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CrabError, ERROR_KINDS, type ErrorKind } from '../../../src/core/base/errors.ts'
import { toRetries, withRetry } from '../../../src/core/provider/retry.ts'
import type { ModelEvent } from '../../../src/core/provider/types.ts'
import { collect, collectFailure } from '../../support/model-calls.ts'

const NEVER = new AbortController().signal
const TEXT: ModelEvent = { type: 'text', delta: 'x' }

test('withRetry() waits 100 ms, then 200, each with jitter down to half of it', async () => {
  const { events, error } = await collectFailure(withRetry(failing('unavailable'), quick(2), NEVER))
  const delays = events.map((event) => (event.type === 'retry' ? event.delayMs : Number.NaN))
  assert.equal(delays.length, 2)
  assert.ok(delays[0]! >= 50 && delays[0]! <= 100, String(delays))
  assert.ok(delays[1]! >= 100 && delays[1]! <= 200, String(delays))
  assert.equal(error.kind, 'unavailable')
})

test('withRetry() numbers its attempts and reports each error', async () => {
  const attempts = [failing('throttled', 0), failing('timeout', 0), () => saying([TEXT])]
  const events = await collect(withRetry(() => attempts.shift()!(), quick(2), NEVER))
  assert.deepEqual(
    events.map((event) => (event.type === 'retry' ? [event.attempt, event.error.kind] : event.type)),
    [[1, 'throttled'], [2, 'timeout'], 'text'],
  )
})

test('withRetry() retries exactly the retryable errors', async () => {
  const kinds = Object.keys(ERROR_KINDS) as ErrorKind[]
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...kinds), async (kind) => {
      const { events, error } = await collectFailure(withRetry(failing(kind, 0), quick(1), NEVER))
      assert.equal(error.kind, kind)
      assert.equal(events.length, ERROR_KINDS[kind].retryable ? 1 : 0)
    }),
    { numRuns: kinds.length * 2 },
  )
})

test('withRetry() never retries once something was yielded', async () => {
  let calls = 0
  const attempt = () => {
    calls++
    return saying([TEXT], new CrabError('unavailable', 'gone', { retryAfterMs: 0 }))
  }
  const { events } = await collectFailure(withRetry(attempt, quick(5), NEVER))
  assert.deepEqual(events, [TEXT])
  assert.equal(calls, 1)
})

test('withRetry() waits for the delay the server asks for, up to 20 s in all', async () => {
  const patient = await collectFailure(withRetry(failing('throttled', 1), quick(1), NEVER))
  assert.equal(patient.events[0]?.type === 'retry' && patient.events[0].delayMs, 1)
  const { events, error } = await collectFailure(withRetry(failing('throttled', 20_001), quick(5), NEVER))
  assert.deepEqual(events, [])
  assert.equal(error.retryAfterMs, 20_001)
})

test('withRetry() turns an unexpected error into an internal one, immediately', async () => {
  const attempt = () => saying([], new TypeError('x is not a function'))
  const { events, error } = await collectFailure(withRetry(attempt, quick(2), NEVER))
  assert.equal(error.kind, 'internal')
  assert.deepEqual(events, [])
})

test('withRetry() stops waiting when it is aborted', async () => {
  const controller = new AbortController()
  const events = withRetry(failing('unavailable', 19_000), quick(2), controller.signal)
  assert.equal((await events.next()).value?.type, 'retry')
  const next = events.next()
  controller.abort(new CrabError('timeout', 'too long'))
  await assert.rejects(next, { kind: 'timeout', message: 'too long' })
})

test('withRetry() is patient: the waits double from 500 ms to 30 s, up to ten attempts', async () => {
  const [first, last] = [toRetries('patient', undefined), toRetries('patient', 0)]
  assert.deepEqual([first.count, first.firstMs, first.maxMs, last.count], [9, 500, 30_000, 0])
  const scaled = { ...first, firstMs: 2, maxMs: 8 }
  const { events, error } = await collectFailure(withRetry(failing('unavailable'), scaled, NEVER))
  const waits = events.map((event) => (event.type === 'retry' ? event.delayMs : Number.NaN))
  assert.equal(waits.length, 9)
  for (const [at, full] of [2, 4, 8, 8, 8].entries()) {
    assert.ok(waits[at]! >= full / 2 && waits[at]! <= full, String(waits))
  }
  assert.deepEqual([error.kind, error.message], ['unavailable', 'no, after 10 attempts'])
})

test('withRetry() says when the next attempt is, and of how many', async () => {
  const before = Date.now()
  const { events } = await collectFailure(withRetry(failing('throttled', 1), toRetries('patient', 1), NEVER))
  const [retry] = events
  assert.ok(retry?.type === 'retry' && retry.at >= before + 1 && retry.at <= Date.now() + 1)
  assert.deepEqual([retry.attempt, retry.maxAttempts, retry.discards], [1, 2, undefined])
})

test('withRetry() is patient with a delay of up to five minutes, and fails immediately beyond', async () => {
  const controller = new AbortController()
  const events = withRetry(failing('throttled', 300_000), toRetries('patient', undefined), controller.signal)
  const { value } = await events.next()
  assert.equal(value?.type === 'retry' && value.delayMs, 300_000)
  const next = events.next()
  controller.abort(new CrabError('cancelled', 'enough'))
  await assert.rejects(next, { kind: 'cancelled', message: 'enough' })
  const retries = toRetries('patient', undefined)
  const late = await collectFailure(withRetry(failing('throttled', 300_001), retries, NEVER))
  assert.deepEqual([late.events, late.error.message], [[], 'no'])
})

test('withRetry() repeats an answer that broke off if the policy says so, and discards the first', async () => {
  const gone = new CrabError('unavailable', 'gone', { retryAfterMs: 0 })
  const attempts = [() => saying([TEXT], gone), () => saying([], gone), () => saying([TEXT])]
  const patient = toRetries('patient', undefined)
  const events = await collect(withRetry(() => attempts.shift()!(), patient, NEVER))
  assert.deepEqual(
    events.map((event) => (event.type === 'retry' ? event.discards : event.type)),
    ['text', true, undefined, 'text'],
  )
})

function quick(count: number): ReturnType<typeof toRetries> {
  return toRetries('quick', count)
}

function failing(kind: ErrorKind, retryAfterMs?: number): () => AsyncIterable<ModelEvent> {
  return () => saying([], new CrabError(kind, 'no', retryAfterMs === undefined ? {} : { retryAfterMs }))
}

async function* saying(events: readonly ModelEvent[], failure?: Error): AsyncGenerator<ModelEvent> {
  yield* events
  if (failure) throw failure
}
