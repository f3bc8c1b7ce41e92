import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChatStore } from '../../../src/tui/state/store.ts'
import { busyState, chunk, finishedBlocks, textStart } from '../../support/chat-state.ts'

test('ChatStore.getShown() returns streamed text only once its finished blocks are split off', () => {
  using store = new ChatStore(busyState())
  const before = store.getShown()
  for (const event of [textStart, chunk('one\n\ntwo')])
    store.act({ type: 'stream', event: { seq: 0, event } })
  assert.equal(store.get().open?.text, 'one\n\ntwo')
  assert.equal(store.getShown(), before)
  store.act({ type: 'set', change: { hint: 'a key was pressed' } })
  assert.equal(store.getShown(), store.get())
  assert.equal(store.getShown().open?.text, 'two')
  assert.deepEqual(
    finishedBlocks(store.getShown()).flatMap((block) => (block.kind === 'answer' ? [block.text] : [])),
    ['one'],
  )
})
