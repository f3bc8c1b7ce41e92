import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transcriptTitle } from '../../../src/tui/controller/transcript.ts'
import { reduce } from '../../../src/tui/state/reduce.ts'
import { busyState } from '../../support/chat-state.ts'

test('transcriptTitle() says what is not stored yet', () => {
  const titled = { ...busyState(), title: 'Crabs' }
  const running = reduce(titled, { type: 'turn-started', runId: 'r', now: 0 })
  const over = reduce(titled, { type: 'turn-over' })
  assert.equal(transcriptTitle(titled), 'Crabs · your message is not sent yet')
  assert.equal(transcriptTitle(running), 'Crabs · without the step that runs')
  assert.equal(transcriptTitle(over), 'Crabs')
  assert.equal(transcriptTitle({ ...over, title: '' }), 'crab')
})
