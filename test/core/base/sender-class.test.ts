import assert from 'node:assert/strict'
import { test } from 'node:test'
import { titleConversation } from '../../../src/core/base/auto-title.ts'
import { isWindowSender, listSpeakers, namePair } from '../../../src/core/base/sender-class.ts'

const WINDOW = { agent: 'crab', sender: 'sh:01M848QW3N6YKD3T4Z0B7T1ZPV' }
const NAMED = { agent: 'crab', sender: 'notes' }

test('a sender that a window made up is not shown', () => {
  assert.deepEqual(
    [WINDOW, NAMED].map(({ sender }) => isWindowSender(sender)),
    [true, false],
  )
  assert.deepEqual([WINDOW, NAMED].map(namePair), ['a chat with crab', 'crab/notes'])
  assert.deepEqual([WINDOW, NAMED].map(listSpeakers), [['crab'], ['crab', 'notes']])
})

test('titleConversation() names who talks in a conversation without a title', () => {
  const empty = { title: '', preview: '' }
  assert.equal(titleConversation({ ...WINDOW, ...empty }), 'A chat with crab')
  assert.equal(titleConversation({ ...NAMED, ...empty }), 'crab with notes')
  assert.equal(titleConversation({ ...WINDOW, title: '', preview: 'Fix the parser' }), 'Fix the parser')
})
