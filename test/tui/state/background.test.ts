import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reduce } from '../../../src/tui/state/reduce.ts'
import type { ChatState } from '../../../src/tui/state/types.ts'
import { busyState, finishedBlocks } from '../../support/chat-state.ts'

/** Returns a chat that has put its turn into the background and shows another conversation. */
function leftState(): ChatState {
  const busy = busyState()
  const { agent, sender } = busy
  const run = { agent, sender, runId: busy.turn!.runId, name: 'the long one' }
  const known = reduce(busy, { type: 'run-started', run })
  const left = reduce(known, { type: 'turn-detached', text: 'left', tone: 'info', keepsRunning: true })
  return { ...left, sender: 'sh:other' }
}

test('the end of a turn that was put into the background is said, once', () => {
  const left = leftState()
  const { runId } = left.running[0]!
  const ended = reduce(left, { type: 'run-ended', runId })
  const { block } = ended.finished.at(-1)!
  assert.equal(block.kind === 'notice' && block.text, 'The turn in the background has ended: the long one')
  assert.deepEqual([ended.running, ended.leftRuns], [[], []])
  const again = reduce(ended, { type: 'run-ended', runId })
  assert.equal(finishedBlocks(again).length, finishedBlocks(ended).length)
})

test('the end of a turn is not said in its own conversation, nor that of a turn which was never here', () => {
  const left = leftState()
  const { runId, sender } = left.running[0]!
  const shown = reduce({ ...left, sender }, { type: 'run-ended', runId })
  assert.equal(finishedBlocks(shown).length, finishedBlocks(left).length)
  const other = reduce(left, {
    type: 'run-started',
    run: { agent: 'crab', sender: 'bob', runId: 'x', name: '' },
  })
  const ended = reduce(other, { type: 'run-ended', runId: 'x' })
  assert.equal(finishedBlocks(ended).length, finishedBlocks(other).length)
})
