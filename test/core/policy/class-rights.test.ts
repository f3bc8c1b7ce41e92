import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownsPair, rulesFor, turnFolder } from '../../../src/core/policy/class-rights.ts'
import { completePair } from '../../../src/core/policy/client-senders.ts'
import { TCP_CLIENT, type TcpClient } from '../../../src/core/policy/trust.ts'
import { ruleList } from '../../support/policy-setting.ts'

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
  assert.equal(ownsPair(client, { agent: 'clerk', sender: 'phone:1' }), true)
  assert.equal(ownsPair(client, { agent: 'crab', sender: 'phone:1' }), false)
  assert.equal(ownsPair(client, { agent: 'clerk', sender: 'ann' }), false)
})

test('rulesFor() gives a class its own table and everything that restricts', () => {
  const rules = ruleList([
    ...['allow bash', 'ask edit', 'deny read(.env)'],
    ...['remote allow recall', 'remote deny edit', 'unattended allow bash', 'unattended ask fetch'],
  ])
  const held = (trust: Parameters<typeof rulesFor>[0]) =>
    rulesFor(trust, rules).map(({ source }) => source.at(-1))
  assert.equal(held('local').join(''), '012')
  assert.equal(held('remote').join(''), '1234')
  assert.equal(held('unattended').join(''), '1256')
})

test('turnFolder() gives every remote pair and the unattended turns of an agent folders that do not hold each other', () => {
  const folder = (sender: string, trust: Parameters<typeof turnFolder>[2], agentId = 'a') =>
    turnFolder('/w', { agent: 'crab', agentId, sender }, trust)
  assert.equal(folder('tg:1', 'local'), undefined)
  assert.equal(folder('tg:1', 'unattended'), '/w/crab/unattended')
  assert.match(folder('tg:1', 'remote')!, /^\/w\/crab\/[0-9a-f]{16}$/)
  const folders = ['tg:1', 'tg:2', '../../x', 'unattended', 'TG:1', 'tg:1\0'].map(
    (sender) => folder(sender, 'remote')!,
  )
  assert.equal(new Set([...folders, folder('tg:1', 'remote', 'b')]).size, 7)
  for (const one of folders) assert.match(one, /^\/w\/crab\/[0-9a-f]{16}$/)
})

test('ownsPair() keeps a client to the namespace of its token; the built-in one has all that no token has', () => {
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

test('completePair() puts plain senders of a client into its namespace, and leaves what is complete as it is', () => {
  const phone = { kind: 'tcp', token: { name: 'phone', agent: 'a' } } as const
  const made = [undefined, '', 'ann', 'cron', 'tg:1'].map((sender) => completePair(phone, { sender }).sender)
  assert.deepEqual(made, ['phone:user', 'phone:user', 'phone:ann', 'phone:cron', 'tg:1'])
  assert.deepEqual(completePair(phone, {}), { agent: 'a', sender: 'phone:user' })
  assert.deepEqual(completePair(TCP_CLIENT, { agent: 'b', sender: 'ann' }), { agent: 'b', sender: 'tcp:ann' })
  assert.deepEqual(completePair('local', { agent: '', sender: '' }), { agent: 'crab', sender: 'user' })
})
