import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownsPair } from '../../../src/core/policy/class-rights.ts'
import { TCP_CLIENT } from '../../../src/core/policy/trust.ts'

const SENDERS = ['', 'user', 'ann', 'sh:1', 'cron', 'event:x', 'delegate:1', 'tg:1', 'cron:x', ':']

test('ownsPair() gives a TCP client the pairs of untrusted senders only, and programs of this user all', () => {
  const owned = SENDERS.filter((sender) => ownsPair(TCP_CLIENT, { agent: 'crab', sender }))
  assert.deepEqual(owned, ['tg:1', 'cron:x', ':'])
  for (const channel of ['process', 'local'] as const) {
    assert.ok(SENDERS.every((sender) => ownsPair(channel, { agent: 'crab', sender })))
  }
})

test('ownsPair() keeps a client whose token names an agent to that agent', () => {
  const client = { kind: 'tcp', token: { name: 'phone', agent: 'Clerk' } } as const
  assert.equal(ownsPair(client, { agent: 'clerk', sender: 'tg:1' }), true)
  assert.equal(ownsPair(client, { agent: 'crab', sender: 'tg:1' }), false)
  assert.equal(ownsPair(client, { agent: 'clerk', sender: 'ann' }), false)
})
