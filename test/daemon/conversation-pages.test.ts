import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readConversations } from '../../src/cli/find-conversation.ts'
import { ConversationList, type ListConversationsMsg } from '../../src/core/protocol/crabtalk.generated.ts'
import type { Dispatch } from '../../src/core/protocol/dispatch.ts'
import { MAX_FRAME_BYTES } from '../../src/core/protocol/frame.ts'
import type { SessionSummary } from '../../src/core/storage/types.ts'
import { listConversations } from '../../src/daemon/handlers/conversations.ts'
import { propertyRuns } from '../support/property-runs.ts'

const NEVER = new AbortController().signal
const IDLE = { windows: 0, running: false, asks: 0 }

function summary(at: number, title: string): SessionSummary {
  const texts = { id: `id-${at}`, agent: 'crab', agentId: 'a', sender: `s${at}`, cwd: '/home', title }
  const counts = { messageCount: 2, archiveCount: 0, forkedFrom: undefined }
  const times = { createdAt: '2026-03-01T22:00:00.000Z', updatedAt: '2026-03-02T01:00:30.000Z' }
  return {
    ...texts,
    ...counts,
    ...times,
    summary: '',
    preview: '',
    model: '',
    effort: '',
    activeSince: times.createdAt,
  }
}

test('listConversations() returns pages that fit a frame for any request, and readConversations() returns all of them', async () => {
  const rows = Array.from({ length: 20_000 }, (_, at) => summary(at, '語'.repeat(500)))
  const storage = { listSessions: async () => rows }
  const sizes: number[] = []
  const dispatch: Dispatch = async function* (message) {
    const query = message.msg!.value as ListConversationsMsg
    const list = await listConversations(storage, query, { agentNames: new Map(), activity: () => IDLE })
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
  const agentNames = new Map([['a', 'new name']])
  const { conversations } = await listConversations(storage, query, { agentNames, activity: () => IDLE })
  const [{ date, aliveSecs, agent }] = conversations as [(typeof conversations)[number]]
  assert.deepEqual([date, aliveSecs, agent], ['2026-03-01', 3 * 3600 + 30, 'new name'])
})

test('listConversations() with the list before returns what it returns without, after any change', async () => {
  const change = fc.record({
    at: fc.nat(9),
    key: fc.constantFrom(...KEYS, 'messageCount', 'remove', 'add', 'name', 'asks', 'none'),
    value: fc.nat(3),
    query: fc.record({ offset: fc.nat(3), limit: fc.nat(3), sender: fc.constant(''), cwd: fc.constant('') }),
    isWhole: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(change), async (changes) => {
      const before = {}
      const agentNames = new Map<string, string>()
      let asks = 0
      const facts = {
        agentNames,
        activity: ({ id }: SessionSummary) => ({ ...IDLE, asks: id === 'id-1' ? asks : 0 }),
      }
      let rows = Array.from({ length: 6 }, (_, at) => summary(at, `title ${at}`))
      for (const { at, key, value, query, isWhole } of changes) {
        if (key === 'asks') asks = value
        if (key === 'name') agentNames.set('a', `name ${value}`)
        if (key === 'remove') rows = rows.toSpliced(at, 1)
        if (key === 'add') rows = rows.toSpliced(at, 0, summary(100 + value, 'new'))
        rows = rows.map((row, index) => (index === at ? changed(row, key, value) : { ...row }))
        const filter = { ...query, agent: '', ...(isWhole && { offset: 0, limit: 0 }) }
        const storage = { listSessions: async () => rows }
        const list = await listConversations(storage, filter, facts, before)
        assert.deepEqual(list, await listConversations(storage, filter, facts))
        assert.equal(await listConversations(storage, filter, facts, before), list)
      }
    }),
    { numRuns: propertyRuns(300) },
  )
})

const KEYS = [
  'id',
  'agent',
  'agentId',
  'sender',
  'cwd',
  'title',
  'preview',
  'createdAt',
  'updatedAt',
] as const

function changed(row: SessionSummary, key: string, value: number): SessionSummary {
  if (key === 'messageCount') return { ...row, messageCount: value }
  if (!Object.hasOwn(row, key)) return { ...row }
  return { ...row, [key]: key.endsWith('At') ? new Date(value * 1e9).toISOString() : `${key} ${value}` }
}
