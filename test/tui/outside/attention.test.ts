import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAttention, toProgressState, toWindowTitle } from '../../../src/tui/outside/attention.ts'
import { reduce } from '../../../src/tui/state/reduce.ts'
import type { ChatState } from '../../../src/tui/state/types.ts'
import { after, busyState, turnEnd } from '../../support/chat-state.ts'
import { permissionCard } from '../cards/card-fixtures.ts'

const BUSY: ChatState = { ...busyState(), title: 'Fix it' }
const ENDED = after(BUSY, [turnEnd()])
const FAILED = after(BUSY, [turnEnd('no network')])
const CARD = permissionCard({ tool: 'bash', action: 'bash: rm x', rules: ['bash(rm *)'] })
const ASKED: ChatState = { ...BUSY, asks: [{ ...CARD, pair: { agent: BUSY.agent, sender: BUSY.sender } }] }

test('findAttention() reports a new question once', () => {
  assert.equal(findAttention(BUSY, ASKED, 0)?.kind, 'question')
  assert.equal(findAttention(ASKED, ASKED, 0), undefined)
})

test('findAttention() reports the end of a turn that took ten seconds, and every failure', () => {
  assert.equal(findAttention(BUSY, ENDED, 9_999), undefined)
  assert.deepEqual(findAttention(BUSY, ENDED, 10_000), { kind: 'ended', text: 'crabtalk: finished: Fix it' })
  assert.equal(findAttention(BUSY, FAILED, 1)?.kind, 'failed')
})

test('findAttention() reports nothing about a turn that the user interrupts', () => {
  const cancelling = reduce(BUSY, { type: 'cancelling' })
  assert.equal(findAttention(cancelling, after(cancelling, [turnEnd('', 'cancelled')]), 60_000), undefined)
})

test('toWindowTitle() has a sign while the chat works or asks', () => {
  assert.equal(toWindowTitle(ENDED, '~/x'), 'crabtalk: Fix it')
  assert.equal(toWindowTitle(BUSY, '~/x'), '● crabtalk: Fix it')
  assert.equal(toWindowTitle(ASKED, '~/x'), '? crabtalk: Fix it')
  assert.equal(toWindowTitle({ ...ENDED, title: '' }, '~/x'), 'crabtalk: ~/x')
})

test('toProgressState() keeps a failure until it has been seen', () => {
  assert.deepEqual(
    [toProgressState(FAILED, true), toProgressState(FAILED, false), toProgressState(BUSY, true)],
    ['failed', 'none', 'busy'],
  )
})
