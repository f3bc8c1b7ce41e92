import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FROM_SOURCE } from '../../support/daemon.ts'
import { makeSearchKillLoad } from '../../support/search-kill-load.ts'

test('messages and memories are found after SIGKILL at any moment', { timeout: 120_000 }, async () => {
  await using load = await makeSearchKillLoad(FROM_SOURCE)
  const rounds = [await load.round(), await load.daemonRound(), await load.round()]
  const durable = rounds.map(({ said, changed }) => said + changed) // a daemon may be killed before it has answered
  assert.ok(Math.max(...durable) > 0, `${durable}`)
})
