import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance, replay } from '../../../src/core/runtime/conversation.ts'
import type { SessionHeader, SessionLine } from '../../../src/core/storage/types.ts'

const TS = '2026-01-01T00:00:00.000Z'
const HEADER: SessionHeader = {
  v: 1,
  agent: 'crab',
  agent_id: 'a',
  created_by: 'ann',
  created_at: TS,
  cwd: '/',
}

test('replay() takes messages, without what storage adds to them, and skips what is none', () => {
  const lines: SessionLine[] = [
    { kind: 'entry', role: 'user', content: 'hi', seq: 1, ts: TS },
    { kind: 'meta', title: 'Greeting', seq: 2, ts: TS },
    { kind: 'entry', role: 'assistant', content: 'yes', agent: 'critic', seq: 3, ts: TS },
    { kind: 'event', event: 'tool_start', call_id: 'a', name: 'read', seq: 4, ts: TS },
  ]
  assert.deepEqual(replay([], lines), [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'yes', agent: 'critic' },
  ])
})

test('replay() starts anew at each compact marker and says that its archive is missing', () => {
  const lines: SessionLine[] = [
    { kind: 'entry', role: 'user', content: 'old', seq: 1, ts: TS },
    { kind: 'compact', archive_name: 's-1', archived_at: TS, title: 'The plan.', seq: 2, ts: TS },
    { kind: 'entry', role: 'user', content: 'new', seq: 3, ts: TS },
  ]
  const [archive, ...rest] = replay([{ role: 'user', content: 'older' }], lines)
  assert.match(archive?.content ?? '', /The plan\..*not available/)
  assert.deepEqual([archive?.role, rest], ['user', [{ role: 'user', content: 'new' }]])
})

test('advance() adds what was read to what was known, and leaves that as it was', () => {
  const first = { kind: 'entry', role: 'user', content: 'one', seq: 1, ts: TS } as const
  const second = { ...first, content: 'two', seq: 2 }
  const part = { header: HEADER, warnings: [] }
  const known = advance(
    's',
    { ...part, whole: true, lines: [first], cursor: { bytes: 9, seq: 1 } },
    undefined,
  )
  const grown = advance('s', { ...part, whole: false, lines: [second], cursor: { bytes: 18, seq: 2 } }, known)
  assert.deepEqual(grown.cursor, { bytes: 18, seq: 2 })
  assert.deepEqual(
    [known, grown].map(({ messages }) => messages.map(({ content }) => content)),
    [['one'], ['one', 'two']],
  )
})

test('advance() takes a part that is the whole session for all of it', () => {
  const line = { kind: 'entry', role: 'user', content: 'new', seq: 1, ts: TS } as const
  const before = {
    id: 's',
    header: HEADER,
    cursor: { bytes: 99, seq: 9 },
    messages: [{ ...line, content: 'old' }],
  }
  const part = { whole: true, header: HEADER, lines: [line], cursor: { bytes: 9, seq: 1 }, warnings: [] }
  assert.deepEqual(
    advance('s', part, before).messages.map(({ content }) => content),
    ['new'],
  )
})
