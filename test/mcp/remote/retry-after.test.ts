import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryAfterMs } from '../../../src/mcp/remote/remote-fetch.ts'

test('retryAfterMs() reads seconds and dates, within bounds', () => {
  const now = Date.parse('Sat, 01 Aug 2026 12:00:00 GMT')
  for (const [value, ms] of [
    ['7', 7_000],
    [' 0 ', 250],
    ['Sat, 01 Aug 2026 12:00:30 GMT', 30_000],
    ['Sat, 01 Aug 2026 11:00:00 GMT', 250],
    ['999999', 3_600_000],
    ['soon', undefined],
    ['', undefined],
    [null, undefined],
  ] as const) {
    assert.equal(retryAfterMs(value, now), ms, String(value))
  }
})
