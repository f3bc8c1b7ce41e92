import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConversations } from '../../src/cli/find-conversation.ts'
import { ConversationList, type ListConversationsMsg } from '../../src/core/protocol/crabtalk.generated.ts'
import type { Dispatch } from '../../src/core/protocol/dispatch.ts'
import { MAX_FRAME_BYTES } from '../../src/core/protocol/frame.ts'
import type { SessionSummary } from '../../src/core/storage/types.ts'
import { listConversations } from '../../src/daemon/handlers/conversations.ts'

const NEVER = new AbortController().signal

function summary(at: number, title: string): SessionSummary {
  const texts = { id: `id-${at}`, agent: 'crab', agentId: 'a', sender: `s${at}`, cwd: '/home', title }
  const counts = { messageCount: 2, archiveCount: 0, forkedFrom: undefined }
  const times = { createdAt: '2026-03-01T22:00:00.000Z', updatedAt: '2026-03-02T01:00:30.000Z' }
  return { ...texts, ...counts, ...times, summary: '', preview: '', activeSince: times.createdAt }
}

test('listConversations() returns pages that fit a frame for any request, and readConversations() returns all of them', async () => {
  const rows = Array.from({ length: 20_000 }, (_, at) => summary(at, '語'.repeat(500)))
  const storage = { listSessions: async () => rows }
  const sizes: number[] = []
  const dispatch: Dispatch = async function* (message) {
    const query = message.msg!.value as ListConversationsMsg
    const list = await listConversations(storage, query, new Map())
    sizes.push(ConversationList.encode(list).finish().length)
    yield { requestId: 0, msg: { $case: 'conversationList', value: list } }
  }
  const { conversations, total } = await readConversations(dispatch, { limit: 0 }, NEVER)
  assert.deepEqual(
    conversations.map(({ filePath, seq }) => `${filePath} ${seq}`),
    rows.map(({ id }, at) => `${id} ${at + 1}`),
  )
  assert.equal(total, rows.length)
  assert.ok(sizes.length > 1 && Math.max(...sizes) < MAX_FRAME_BYTES, sizes.join(' '))
  const some = await readConversations(dispatch, { limit: 9000, offset: 10 }, NEVER)
  assert.deepEqual([some.conversations.length, some.conversations[0]!.filePath], [9000, 'id-10'])
})

test('listConversations() returns the start date and the duration of a conversation', async () => {
  const storage = { listSessions: async () => [summary(1, 'crabs')] }
  const query = { agent: '', sender: '', cwd: '', offset: 0, limit: 0 }
  const { conversations } = await listConversations(storage, query, new Map([['a', 'new name']]))
  const [{ date, aliveSecs, agent }] = conversations as [(typeof conversations)[number]]
  assert.deepEqual([date, aliveSecs, agent], ['2026-03-01', 3 * 3600 + 30, 'new name'])
})
