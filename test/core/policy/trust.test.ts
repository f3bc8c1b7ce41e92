import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Channel, classifyClient, classifyTurn, TCP_CLIENT } from '../../../src/core/policy/trust.ts'
import type { Trust } from '../../../src/core/policy/types.ts'

const CHANNELS: readonly Channel[] = ['process', 'local', TCP_CLIENT]

/** The class of each sender's turns at the home's own socket, attended and unattended. */
const SENDERS: readonly [sender: string, trust: Trust, unattended: Trust][] = [
  ['', 'local', 'unattended'],
  ['user', 'local', 'unattended'],
  ['ann', 'local', 'unattended'],
  ['sh:01J', 'local', 'unattended'],
  ['sh:', 'local', 'unattended'],
  ['Cron', 'local', 'unattended'],
  ['event', 'local', 'unattended'],
  ['cron', 'unattended', 'unattended'],
  ['event:agent:a:done', 'unattended', 'unattended'],
  ['cron:x', 'remote', 'remote'],
  ['telegram:42', 'remote', 'remote'],
  ['SH:x', 'remote', 'remote'],
  [' sh:x', 'remote', 'remote'],
  [':', 'remote', 'remote'],
  ['delegate:01J', 'remote', 'remote'],
]

test("classifyTurn() gives a sender the same class in this process as at the home's socket, and a remote one over TCP", () => {
  for (const [sender, trust] of SENDERS) {
    const classes = CHANNELS.map((channel) => classifyTurn(channel, sender))
    assert.deepEqual(classes, [trust, trust, 'remote'], sender)
  }
})

test('classifyTurn() never gives an unattended turn the local class', () => {
  for (const [sender, , trust] of SENDERS) {
    const classes = CHANNELS.map((channel) => classifyTurn(channel, sender, { unattended: true }))
    assert.deepEqual(classes, [trust, trust, 'remote'], sender)
  }
})

test('classifyTurn() gives a delegated turn the class of the turn that delegates', () => {
  for (const caller of ['local', 'unattended', 'remote'] as const) {
    assert.equal(classifyTurn('local', 'delegate:01J', { caller }), caller)
    assert.equal(classifyTurn(TCP_CLIENT, 'delegate:01J', { caller }), 'remote')
  }
})

test('classifyClient() is remote over TCP only', () => {
  assert.deepEqual(CHANNELS.map(classifyClient), ['local', 'local', 'remote'])
})
