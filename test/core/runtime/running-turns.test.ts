import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeasedConversation } from '../../../src/core/runtime/leased-conversation.ts'
import { RunningTurns, type RunningWork } from '../../../src/core/runtime/running-turns.ts'
import { Steers } from '../../../src/core/runtime/steers.ts'

const PAIR = { agentId: 'a', sender: 'ann' }

test('steer() accepts remote messages for a remote turn only', () => {
  const running = new RunningTurns()
  const turn = toRunning()
  using _local = running.enter(turn)
  const to = (trust: RunningWork['trust']) => ({ pair: PAIR, trust })
  for (const trust of ['remote', 'unattended'] as const) {
    assert.throws(() => running.steer(to(trust), 'x'), { kind: 'denied' })
  }
  running.steer(to('local'), 'mine')
  assert.deepEqual([turn.steers?.giveBack(), turn.steers?.giveBack()], ['mine', undefined])
  using _remote = running.enter(toRunning({ trust: 'remote' }))
  running.steer(to('remote'), 'theirs')
})

test('steer() reaches the latest turn that accepts steers and is not being stopped', () => {
  const running = new RunningTurns()
  const stopped = new AbortController()
  const turns = [toRunning(), toRunning({ signal: stopped.signal }), toRunning()]
  const { steers: _, ...compaction } = toRunning()
  for (const turn of [...turns, compaction]) running.enter(turn)
  running.steer({ pair: PAIR, trust: 'local' }, 'one')
  assert.equal(turns[2]?.steers?.giveBack(), 'one')
  stopped.abort()
  const missing = { kind: 'missing' }
  assert.throws(
    () => running.steer({ pair: PAIR, trust: 'local' }, 'two'),
    missing,
    'the youngest is about to end',
  )
})

test('cancel() stops everything that runs for a pair, and says when nothing does', () => {
  const running = new RunningTurns()
  const stopped: string[] = []
  const enter = (name: string, pair = PAIR) =>
    running.enter(toRunning({ pair, cancel: () => stopped.push(name) }))
  using _other = enter('other', { ...PAIR, sender: 'Ann' })
  const over = enter('over')
  enter('turn')
  enter('compaction')
  over[Symbol.dispose]()
  assert.equal(running.cancel({ pair: PAIR, trust: 'local' }), true)
  assert.deepEqual(stopped, ['turn', 'compaction'])
  assert.equal(running.cancel({ pair: { ...PAIR, agentId: 'b' }, trust: 'local' }), false)
  assert.deepEqual([running.hasAgent('a'), running.hasAgent('b')], [true, false])
})

test('cancel() by a remote sender stops remote turns only', () => {
  const running = new RunningTurns()
  const stopped: string[] = []
  const enter = (trust: RunningWork['trust']) =>
    running.enter(toRunning({ trust, cancel: () => stopped.push(trust) }))
  enter('remote')
  assert.equal(running.cancel({ pair: PAIR, trust: 'remote' }), true)
  enter('local')
  for (const trust of ['remote', 'unattended'] as const) {
    assert.throws(() => running.cancel({ pair: PAIR, trust }), { kind: 'denied' })
  }
  assert.deepEqual(stopped, ['remote'])
})

function toRunning(more: Partial<RunningWork> = {}): RunningWork {
  return {
    pair: PAIR,
    agent: 'crab',
    trust: 'local',
    since: 0,
    conversation: {} as LeasedConversation,
    steers: new Steers(async (content) => ({ content })),
    signal: new AbortController().signal,
    cancel() {},
    ...more,
  }
}
