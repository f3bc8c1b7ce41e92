import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectMatches } from '../../../../src/core/hooks/search/collect.ts'

const NEVER = new AbortController().signal

test('collect() gathers everything, up to a limit', async () => {
  const search = async function* () {
    yield* [1, 2, 3]
  }
  assert.deepEqual(await collectMatches(search, { maxItems: 4, timeLimitMs: 60_000 }, NEVER), {
    items: [1, 2, 3],
    stopped: undefined,
  })
  assert.deepEqual(await collectMatches(search, { maxItems: 2, timeLimitMs: 60_000 }, NEVER), {
    items: [1, 2],
    stopped: 'after 2 results',
  })
})

test('collect() returns what was found when the time is up', async () => {
  const search = async function* (signal: AbortSignal) {
    yield 1
    yield await aborted(signal)
  }
  assert.deepEqual(await collectMatches(search, { maxItems: 9, timeLimitMs: 5 }, NEVER), {
    items: [1],
    stopped: 'after 0.005 s',
  })
})

test('collect() fails when it is aborted, also when the time is up as well', async () => {
  const stop = new AbortController()
  const search = async function* (signal: AbortSignal) {
    yield 1
    await aborted(signal).catch(() => stop.abort())
    signal.throwIfAborted()
  }
  await assert.rejects(collectMatches(search, { maxItems: 9, timeLimitMs: 5 }, stop.signal))
})

test('collect() fails with the error of the search', async () => {
  const search = (): AsyncGenerator<never> => {
    throw new Error('broken')
  }
  await assert.rejects(collectMatches(search, { maxItems: 9, timeLimitMs: 60_000 }, NEVER), {
    message: 'broken',
  })
})

/** Rejects when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<number> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  )
}
