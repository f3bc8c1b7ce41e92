import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Channel, trustOf, unattendedTrustOf } from '../../../src/core/policy/trust.ts'
import type { Trust } from '../../../src/core/policy/types.ts'

test('trustOf() gives a sender no more than its channel', () => {
  const senders: [sender: string, process: Trust, local: Trust][] = [
    ['', 'local', 'local'],
    ['user', 'local', 'local'],
    ['ann', 'local', 'local'],
    ['sh:01J', 'local', 'local'],
    ['sh:', 'local', 'local'],
    ['cron', 'local', 'unattended'],
    ['event:agent:a:done', 'local', 'unattended'],
    ['cron:x', 'local', 'remote'],
    ['Cron', 'local', 'local'],
    ['event', 'local', 'local'],
    ['telegram:42', 'local', 'remote'],
    ['SH:x', 'local', 'remote'],
    [' sh:x', 'local', 'remote'],
    [':', 'local', 'remote'],
    ['delegate:01J', 'remote', 'remote'],
  ]
  for (const [sender, process, local] of senders) {
    const classes = (['process', 'local', 'tcp'] as Channel[]).map((channel) => trustOf(channel, sender))
    assert.deepEqual(classes, [process, local, 'remote'], sender)
  }
})

test('unattendedTrustOf() gives a sender in this process no more than at the socket of the home', () => {
  const senders: [sender: string, here: Trust][] = [
    ['', 'unattended'],
    ['ann', 'unattended'],
    ['sh:01J', 'unattended'],
    ['cron', 'unattended'],
    ['event:agent:a:done', 'unattended'],
    ['telegram:42', 'remote'],
    ['delegate:01J', 'remote'],
  ]
  for (const [sender, here] of senders) {
    const channels: readonly Channel[] = ['process', 'local', 'tcp']
    const classes = channels.map((channel) => unattendedTrustOf(channel, sender))
    assert.deepEqual(classes, [here, here, 'remote'], sender)
  }
})

test('trustOf() gives a delegated turn the class of the turn that delegates', () => {
  for (const caller of ['local', 'unattended', 'remote'] as const) {
    assert.equal(trustOf('process', 'delegate:01J', caller), caller)
  }
  assert.equal(trustOf('tcp', 'ann', 'local'), 'remote')
})
