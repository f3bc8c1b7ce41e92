import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ConversationInfo,
  MemoryEntry,
  MemoryKind,
  SessionHit,
} from '../../../src/core/protocol/crabtalk.generated.ts'
import { type Handlers, route } from '../../../src/core/protocol/dispatch.ts'
import { searchChat } from '../../../src/tui/search/search-chat.ts'
import type { ChatSearchScope, SearchResult } from '../../../src/tui/search/types.ts'

const NEVER = new AbortController().signal
const NOW = Date.UTC(2026, 6, 1)

/** The owl said this to ben a year ago; `kraken` finds it. */
const HIT = SessionHit.fromPartial({
  session: {
    id: 's1',
    agent: 'owl',
    sender: 'ben',
    title: 'At sea',
    cwd: '/sea',
    updatedAt: '2026-06-30T00:00:00Z',
  },
  seq: 7,
  window: [
    { seq: 6, role: 'user', snippet: 'é: who is there?', ts: '2025-06-01T00:00:00Z' },
    { seq: 7, role: 'assistant', snippet: 'é a kraken', matches: [5, 11], ts: '2025-06-02T00:00:00Z' },
    { seq: 8, role: 'user', snippet: 'oh', ts: '2025-06-03T00:00:00Z' },
  ],
})

test('find() shows who said the match and when, and its agent and place if they are others', async () => {
  const [found] = await conversations('kraken', {
    searchSessions: async () => ({ hits: [HIT], partial: false }),
  })
  assert.deepEqual(shown(found), {
    value: 's1',
    title: 'At sea',
    detail: '1y ago · owl · ben · /sea',
    excerpts: ['owl: é a [kraken]', 'ben: oh'],
  })
})

test('find() searches all conversations, with short excerpts', async () => {
  const queries: unknown[] = []
  await conversations(' kraken dock ', {
    async searchSessions({ query, agent, sender, contextBefore, contextAfter }) {
      queries.push([query, agent, sender, contextBefore, contextAfter])
      return { hits: [], partial: false }
    },
  })
  assert.deepEqual(queries, [['kraken dock', '', '', 0, 1]])
})

test('find() marks a matching title, and shows the start of that conversation', async () => {
  const window = [
    { seq: 0, role: 'title', snippet: 'The kraken', matches: [4, 10] },
    { seq: 1, role: 'user', snippet: 'who is there?' },
    { seq: 2, role: 'assistant', snippet: '', toolName: 'bash' },
  ]
  const session = { ...HIT.session, agent: 'crab', sender: 'ann', cwd: '/work' }
  const hit = SessionHit.fromPartial({ session, window })
  const [found] = await conversations('kraken', {
    searchSessions: async () => ({ hits: [hit], partial: true }),
  })
  assert.deepEqual(shown(found), {
    value: 's1',
    title: 'The [kraken]',
    detail: '1d ago',
    excerpts: ['you: who is there?', 'crab: '],
  })
})

test('find() lists the latest conversations for an empty query', async () => {
  const info = ConversationInfo.fromPartial({
    ...{
      filePath: 's9',
      agent: 'crab',
      sender: 'ann',
      preview: 'hello there',
      messageCount: 2,
      cwd: '/work',
    },
    updatedAt: '2026-06-30T23:00:00Z',
  })
  const found = await conversations(' ', {
    listConversations: async () => ({ conversations: [info], total: 1 }),
  })
  assert.deepEqual(found.map(shown), [
    { value: 's9', title: 'hello there', detail: '1h ago · open here · 2 messages', excerpts: [] },
  ])
})

test('find() lists entries for an empty query, counts the others, and names archives by their title', async () => {
  const archive = { kind: MemoryKind.ARCHIVE, name: 's1-1', aliases: ['At sea'], content: 'They sailed.' }
  const entries = [
    MemoryEntry.fromPartial({
      name: 'tea',
      content: 'green',
      aliases: ['drinks'],
      createdAt: '2026-06-30T00:00:00Z',
    }),
    MemoryEntry.fromPartial({ ...archive, createdAt: '2026-06-01T00:00:00Z' }),
  ]
  const { items, note } = await search('memory', '', { listMemory: async () => ({ entries, total: 300 }) })
  assert.deepEqual(items.map(shown), [
    { value: 'tea', title: 'tea', detail: '1d ago · drinks', excerpts: ['green'] },
    {
      value: 's1-1',
      title: 'At sea',
      detail: '1mo ago · summary of a conversation',
      excerpts: ['They sailed.'],
    },
  ])
  assert.equal(note, '298 more: type words to find them')
})

test('find() omits impossible values in answers of other programs', async () => {
  const hit = SessionHit.fromPartial({ session: { id: 's2' }, seq: 99, window: [] })
  const [found, ...others] = await conversations('x', {
    searchSessions: async () => ({ hits: [hit, SessionHit.create()], partial: false }),
  })
  assert.deepEqual(others, [])
  assert.deepEqual(shown(found), { value: 's2', title: 'without a title', detail: '', excerpts: [] })
})

test('find() shows the start of a conversation in place of a missing title', async () => {
  const session = { ...HIT.session, title: '', preview: 'who is there?' }
  const [found] = await conversations('kraken', {
    searchSessions: async () => ({ hits: [SessionHit.fromPartial({ ...HIT, session })], partial: false }),
  })
  assert.equal(shown(found).title, 'who is there?')
})

async function conversations(query: string, handlers: Partial<Handlers>): Promise<readonly SearchResult[]> {
  return (await search('conversations', query, handlers)).items
}

async function search(
  scope: Exclude<ChatSearchScope, 'prompts'>,
  query: string,
  handlers: Partial<Handlers>,
) {
  const searcher = { agent: 'crab', sender: 'ann', session: 's9', cwd: '/work', now: NOW }
  return await searchChat({ scope, query }, { ...searcher, dispatch: route(handlers) }, NEVER)
}

/** Returns the result with matches in brackets. */
function shown(found: SearchResult | undefined) {
  assert.ok(found)
  const words = (pieces: SearchResult['title']) =>
    pieces.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join('')
  const excerpts = found.excerpts.map(({ lead, pieces }) => (lead === '' ? '' : `${lead}: `) + words(pieces))
  return { value: found.value, title: words(found.title), detail: found.detail, excerpts }
}
