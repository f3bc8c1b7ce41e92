import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findConversation, shortId } from '../../src/cli/find-conversation.ts'
import { ConversationList } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, route } from '../../src/core/protocol/dispatch.ts'

const NEVER = new AbortController().signal
/** In the order of the daemon: newest first. */
const IDS = ['01K00000000000000000CRAB12', '01JZ000000000000000TALK34', '01JY000000000000000TALK3Z']

for (const [id, found] of [
  [undefined, IDS[0]],
  ['CRAB12', IDS[0]],
  ['crab12', IDS[0]],
  ['3Z', IDS[2]],
  [IDS[1], IDS[1]],
] as const) {
  test(`findConversation() finds ${found} by ${id}`, async () => {
    assert.equal((await findConversation(listing(IDS), id, NEVER)).filePath, found)
  })
}

for (const [ids, id, error] of [
  [IDS, 'TALK', { kind: 'missing', message: 'Cannot find the conversation "TALK"' }],
  [IDS, '01K0', { kind: 'missing', message: 'Cannot find the conversation "01K0"' }],
  [['1A', '2A', '3A'], 'A', { kind: 'conflict', message: 'Cannot choose: 3 conversations end in "A"' }],
  [IDS, '', { kind: 'missing', message: 'Cannot find the conversation ""' }],
  [[], undefined, { kind: 'missing', message: 'No conversations yet' }],
] as const) {
  test(`findConversation() rejects ${id} among ${ids.length} with ${error.kind}`, async () => {
    await assert.rejects(findConversation(listing(ids), id, NEVER), { name: 'CrabError', ...error })
  })
}

test('findConversation() finds the ids that shortId() prints', async () => {
  for (const id of IDS) {
    assert.equal(shortId(id).length, 8)
    assert.equal((await findConversation(listing(IDS), shortId(id), NEVER)).filePath, id)
  }
})

test('findConversation() finds the last one of an agent and a sender, with any characters in the name', async () => {
  const conversations = [
    { filePath: 'C', agent: 'crab', sender: 'ann' },
    { filePath: 'B', agent: 'crab', sender: 'feeds/new' },
    { filePath: 'A', agent: 'crab', sender: 'ann' },
  ]
  const dispatch = route({ listConversations: async () => ConversationList.fromPartial({ conversations }) })
  assert.equal((await findConversation(dispatch, 'crab/ann', NEVER)).filePath, 'C')
  assert.equal((await findConversation(dispatch, 'crab/feeds/new', NEVER)).filePath, 'B')
  for (const id of ['crab/an', 'crab/', '/', 'ann']) {
    await assert.rejects(findConversation(dispatch, id, NEVER), { kind: 'missing' })
  }
})

function listing(ids: readonly string[]): Dispatch {
  const conversations = ids.map((filePath) => ({ filePath }))
  return route({ listConversations: async () => ConversationList.fromPartial({ conversations }) })
}
