import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzInBox } from '../support/fuzz-box.ts'

test('the daemon survives five seconds of hostile clients, stores nothing from them and stays in its home', async () => {
  const { connections, requests, answered, refused } = await fuzzInBox({ ms: 5000, seed: Date.now() % 1e6 })
  assert.ok(connections > 0 && requests > 0 && answered > 0 && refused > 0)
})
