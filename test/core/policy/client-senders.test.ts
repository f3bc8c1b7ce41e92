import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completePair, ownsPair } from '../../../src/core/policy/client-senders.ts'
import { TCP_CLIENT, type TcpClient } from '../../../src/core/policy/trust.ts'

const SENDERS = ['', 'user', 'ann', 'sh:1', 'cron', 'event:x', 'delegate:1', 'tg:1', 'cron:x', ':']

test('ownsPair() gives a TCP client the pairs of untrusted senders only, and local programs all pairs', () => {
  const owned = SENDERS.filter((sender) => ownsPair(TCP_CLIENT, { agent: 'crab', sender }))
  assert.deepEqual(owned, ['tg:1', 'cron:x', ':'])
  for (const channel of ['process', 'local'] as const) {
    assert.ok(SENDERS.every((sender) => ownsPair(channel, { agent: 'crab', sender })))
  }
})

test('ownsPair() limits a client whose token names an agent to that agent', () => {
  const client = { kind: 'tcp', token: { name: 'phone', agent: 'Clerk' } } as const
  assert.equal(ownsPair(client, { agent: 'clerk', sender: 'phone:1' }), true)
  assert.equal(ownsPair(client, { agent: 'crab', sender: 'phone:1' }), false)
  assert.equal(ownsPair(client, { agent: 'clerk', sender: 'ann' }), false)
})

test('ownsPair() limits a client to the namespace of its token; the built-in token has everything else', () => {
  const owns = (client: TcpClient) =>
    ['phone:1', 'phone:', 'phones:1', 'tg:1', 'tcp:user', 'Phone:1', 'phone'].filter((sender) =>
      ownsPair(client, { agent: 'crab', sender }),
    )
  const isTaken = (name: string) => name === 'phone'
  assert.deepEqual(owns({ kind: 'tcp', token: { name: 'phone' }, isTaken }), ['phone:1', 'phone:'])
  const others = ['phones:1', 'tg:1', 'tcp:user', 'Phone:1']
  assert.deepEqual(owns({ kind: 'tcp', token: { name: 'tcp' }, isTaken }), others)
  assert.deepEqual(owns({ kind: 'tcp', isTaken }), others)
})

test('completePair() puts plain senders of a client into its namespace, and keeps complete ones', () => {
  const phone = { kind: 'tcp', token: { name: 'phone', agent: 'a' } } as const
  const made = [undefined, '', 'ann', 'cron', 'tg:1'].map((sender) => completePair(phone, { sender }).sender)
  assert.deepEqual(made, ['phone:user', 'phone:user', 'phone:ann', 'phone:cron', 'tg:1'])
  assert.deepEqual(completePair(phone, {}), { agent: 'a', sender: 'phone:user' })
  assert.deepEqual(completePair(TCP_CLIENT, { agent: 'b', sender: 'ann' }), { agent: 'b', sender: 'tcp:ann' })
  assert.deepEqual(completePair('local', { agent: '', sender: '' }), { agent: 'crab', sender: 'user' })
})
