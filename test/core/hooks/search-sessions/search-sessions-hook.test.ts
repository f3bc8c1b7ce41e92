import assert from 'node:assert/strict'
import { test } from 'node:test'
import { searchArguments } from '../../../../src/core/hooks/search-sessions/arguments.ts'
import { toAnswer } from '../../../../src/core/hooks/search-sessions/run-search-sessions.ts'
import { searchSessionsHook } from '../../../../src/core/hooks/search-sessions/search-sessions-hook.ts'
import { ownSenders } from '../../../../src/core/policy/class-rights.ts'
import type { ToolDispatch } from '../../../../src/core/runtime/hook.ts'
import type { Excerpt, SessionMatch, SessionQuery } from '../../../../src/core/session-search/types.ts'
import { MemoryStorage } from '../../../../src/core/storage/memory-storage.ts'
import { makeHeader, toLine } from '../../storage/samples.ts'

const NEVER = new AbortController().signal

test('searchArguments() fills in defaults, and limits values', () => {
  const usual = { limit: 5, contextBefore: 2, contextAfter: 2, since: undefined, until: undefined }
  assert.deepEqual(searchArguments({ query: ' cron ' }), { query: 'cron', ...usual })
  assert.deepEqual(
    searchArguments({ query: 'x', limit: '99', context: 1, context_after: '4', since: null, until: '' }),
    { query: 'x', ...usual, limit: 20, contextBefore: 1, contextAfter: 4 },
  )
  assert.equal(searchArguments({ query: 'x', limit: 0 }).limit, 1)
  const { since, until } = searchArguments({ query: 'x', since: '2026-03-01', until: '2026-03-01' })
  assert.deepEqual([since, until], [Date.UTC(2026, 2, 1), Date.UTC(2026, 2, 2)])
  assert.equal(searchArguments({ query: 'x', until: '2025' }).until, Date.UTC(2026, 0, 1))
  assert.equal(searchArguments({ query: 'x', until: '2025-12' }).until, Date.UTC(2026, 0, 1))
})

for (const args of [
  {},
  { query: '' },
  { query: 3 },
  { query: 'x', limit: 'many' },
  { query: 'x', since: 'soon' },
]) {
  test(`searchArguments() rejects ${JSON.stringify(args)}`, () => {
    assert.throws(() => searchArguments(args), { kind: 'invalid', message: /^Cannot search: / })
  })
}

test('ownSenders() is every local sender for a local turn, and exactly the sender for others', () => {
  const senders = ['ann', 'sh:01K', 'sh:mcp:x', 'telegram:5', 'cron', 'event:build:done', 'delegate:01K']
  const own = (...of: Parameters<typeof ownSenders>) => senders.filter(ownSenders(...of))
  assert.deepEqual(own('local', 'ann'), ['ann', 'sh:01K', 'sh:mcp:x'])
  assert.deepEqual(own('local', 'telegram:5'), ['ann', 'sh:01K', 'sh:mcp:x', 'telegram:5'])
  assert.deepEqual(own('remote', 'telegram:5'), ['telegram:5'])
  assert.deepEqual(own('remote', 'telegram:6'), [])
  assert.deepEqual(own('unattended', 'cron'), ['cron'])
})

test('toAnswer() returns each conversation with id, day and title, and marks the match', () => {
  const window = [
    item({ seq: 1, role: 'user', snippet: 'why\nis it slow?' }),
    item({ seq: 2, role: 'assistant', snippet: 'x'.repeat(400) }),
    item({ seq: 4, role: 'tool', toolName: 'bash', snippet: 'y', truncated: true }),
  ]
  const match = makeMatch({ session: '0123456789abcdef-01K00000000000000008Z4K2M0Q', seq: 1, window })
  const titles = new Map([[match.session, 'Slow\nbuild']])
  assert.equal(
    toAnswer({ matches: [match, makeMatch({})], partial: true }, { query: 'q', titles }),
    `[8Z4K2M0Q] 2025-03-01 Slow build\n> user: why is it slow?\n  assistant: ${'x'.repeat(300)}…\n  bash: y…\n\n` +
      '[00000000] 2026-01-01\n\nThe index is still being built: older conversations may be missing.',
  )
  assert.equal(toAnswer({ matches: [], partial: false }, { query: 'q', titles }), 'Nothing was found for q.')
})

test("search_sessions searches the agent's own conversations, except the current one", async () => {
  const storage = new MemoryStorage()
  const { id } = await storage.createSession(makeHeader(), [toLine('one'), { kind: 'meta', title: 'First' }])
  const queries: SessionQuery[] = []
  const hook = searchSessionsHook({
    storage,
    async search(query) {
      queries.push(query)
      return { matches: [makeMatch({ session: id })], partial: false }
    },
  })
  const agent = { id: makeHeader().agent_id }
  const call = {
    args: { query: 'one', limit: 3 },
    agent,
    sender: 'telegram:5',
    session: 'S',
    trust: 'remote',
  }
  const result = await hook.dispatch!('search_sessions', call as unknown as ToolDispatch, NEVER)
  assert.match(result!.output, / First/)
  const { accepts, ...query } = queries[0]!
  assert.deepEqual(query, { text: 'one', limit: 3, contextBefore: 2, contextAfter: 2 })
  const mine = makeHeader({ created_by: 'telegram:5' })
  assert.deepEqual(
    [
      accepts!('A', mine),
      accepts!('S', mine),
      accepts!('A', { ...mine, agent_id: 'other' }),
      accepts!('A', makeHeader({ created_by: 'ann' })),
    ],
    [true, false, false, false],
  )
  assert.equal(hook.dispatch!('recall', call as unknown as ToolDispatch, NEVER), undefined)
})

function item(more: Partial<Excerpt>): Excerpt {
  const ts = '2025-03-01T10:00:00.000Z'
  return { seq: 1, role: 'user', snippet: '', truncated: false, toolName: '', matches: [], ts, ...more }
}

function makeMatch(more: Partial<SessionMatch>): SessionMatch {
  const header = makeHeader({ created_at: '2026-01-01T00:00:00.000Z' })
  return { session: '00000000', header, kind: 'user', seq: 1, score: 1, window: [], ...more }
}
