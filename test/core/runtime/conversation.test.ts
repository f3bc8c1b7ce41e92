import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance, NO_HISTORY, replay } from '../../../src/core/runtime/conversation.ts'
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

test('replay() reads messages without their storage fields, and skips invalid ones', () => {
  const lines: SessionLine[] = [
    { kind: 'entry', role: 'user', content: 'hi', seq: 1, ts: TS },
    { kind: 'meta', title: 'Greeting', seq: 2, ts: TS },
    { kind: 'entry', role: 'assistant', content: 'yes', agent: 'critic', seq: 3, ts: TS },
    { kind: 'event', event: 'tool_start', call_id: 'a', name: 'read', seq: 4, ts: TS },
  ]
  assert.deepEqual(replay(NO_HISTORY, lines).messages, [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'yes', agent: 'critic' },
  ])
})

test('replay() restarts at each compact marker and reports that its archive is missing', () => {
  const lines: SessionLine[] = [
    { kind: 'entry', role: 'user', content: 'old', seq: 1, ts: TS },
    { kind: 'compact', archive_name: 's-1', archived_at: TS, title: 'The plan.', seq: 2, ts: TS },
    { kind: 'entry', role: 'user', content: 'new', seq: 3, ts: TS },
  ]
  const older = { ...NO_HISTORY, messages: [{ role: 'user' as const, content: 'older' }] }
  const [archive, ...rest] = replay(older, lines).messages
  assert.match(archive?.content ?? '', /The plan\..*not available/)
  assert.deepEqual([archive?.role, rest], ['user', [{ role: 'user', content: 'new' }]])
})

test('replay() tells the model which files were undone, some of many by name, and keeps the known versions', () => {
  const files = Array.from({ length: 25 }, (_, at) => ({ path: `/f ${at}\n`, outcome: 'restored' as const }))
  const lines: SessionLine[] = [
    { kind: 'event', event: 'undone', run_id: 'r', files, seq: 1, ts: TS },
    { kind: 'event', event: 'undone', run_id: 'r', files: [], seq: 2, ts: TS },
    { kind: 'event', event: 'undone', run_id: 'r', seq: 3, ts: TS },
  ]
  const known = new Map([['/f', 'v']])
  const { messages, files: versions } = replay({ ...NO_HISTORY, files: known }, lines)
  assert.equal(messages.length, 1)
  const [{ role, content } = { role: '', content: '' }] = messages
  assert.equal(role, 'user')
  assert.match(content, /As they were before: "\/f 0\\n", .*"\/f 19\\n", 5 more\. Read a file/)
  assert.deepEqual(versions, known)
})

test('replay() reads the grants of the conversation, and the known files', () => {
  const decided = {
    kind: 'event',
    event: 'permission',
    call_id: 'a',
    name: 'bash',
    reason: 'ann',
    seq: 1,
    ts: TS,
  }
  const permission = (more: object) => ({ ...decided, effect: 'allow', by: 'person', ...more }) as SessionLine
  const result = {
    kind: 'event',
    event: 'tool_result',
    call_id: 'a',
    duration_ms: 1,
    is_error: false,
  } as const
  const knows = (path: string, version: string): SessionLine => ({
    ...result,
    seq: 2,
    ts: TS,
    files: [{ path, version }],
  })
  const { grants, files } = replay(NO_HISTORY, [
    permission({ grant: 'session', rules: ['bash(npm test)'] }),
    permission({ grant: 'always', rules: ['edit'] }),
    permission({ grant: 'session', rules: ['mcp__pj__a'], project: { file: '/f', sha256: 'aa' } }),
    permission({ grant: 'session', rules: ['mcp__pj__b'], call_id: '' }),
    permission({ rule: 'read' }),
    knows('/a', '1'),
    knows('/b', '1'),
    knows('/a', '2'),
  ])
  const grant = { effect: 'allow', source: 'this conversation' }
  assert.deepEqual(grants, [
    { ...grant, pattern: 'bash(npm test)' },
    { ...grant, pattern: 'mcp__pj__a', projects: { file: '/f', sha256: 'aa' } },
    { ...grant, pattern: 'mcp__pj__b', projects: 'any' },
  ])
  assert.deepEqual(
    [...files],
    [
      ['/a', '2'],
      ['/b', '1'],
    ],
  )
})

test('replay() forgets file versions at a compact marker, and keeps grants', () => {
  const before = {
    ...NO_HISTORY,
    files: new Map([['/a', '1']]),
    grants: [{ effect: 'allow', pattern: 'edit', source: 'x' }] as const,
  }
  const marker: SessionLine = {
    kind: 'compact',
    archive_name: 's-1',
    archived_at: TS,
    title: 'T',
    seq: 1,
    ts: TS,
  }
  const { files, grants } = replay(before, [marker])
  assert.deepEqual([files.size, grants.length, before.files.size], [0, 1, 1])
})

test('replay() keeps the selected tools, by use, also after a compact marker', () => {
  const used = (tools: string[], seq: number): SessionLine => ({
    ...{ kind: 'event', event: 'tools_used', tools },
    ...{ seq, ts: TS },
  })
  const marker: SessionLine = {
    ...{ kind: 'compact', archive_name: 's-1', archived_at: TS, title: 'T' },
    ...{ seq: 2, ts: TS },
  }
  const { tools } = replay(NO_HISTORY, [used(['a', 'b'], 1), marker, used(['c', 'a'], 3)])
  assert.deepEqual(tools, ['b', 'c', 'a'])
})

test('advance() adds new lines to a state, and does not change the old one', () => {
  const first = { kind: 'entry', role: 'user', content: 'one', seq: 1, ts: TS } as const
  const second = { ...first, content: 'two', seq: 2 }
  const part = { header: HEADER, warnings: [] }
  const known = advance('s', { ...part, whole: true, lines: [first], cursor: { bytes: 9, seq: 1 } })
  const grown = advance(
    's',
    { ...part, whole: false, lines: [second], cursor: { bytes: 18, seq: 2 } },
    { before: known },
  )
  assert.deepEqual(grown.cursor, { bytes: 18, seq: 2 })
  assert.deepEqual(
    [known, grown].map(({ history }) => history.messages.map(({ content }) => content)),
    [['one'], ['one', 'two']],
  )
})

test('advance() with a part that is the whole session replaces the state', () => {
  const line = { kind: 'entry', role: 'user', content: 'new', seq: 1, ts: TS } as const
  const before = {
    id: 's',
    header: HEADER,
    cursor: { bytes: 99, seq: 9 },
    history: replay(NO_HISTORY, [{ ...line, content: 'old' }]),
  }
  const part = { whole: true, header: HEADER, lines: [line], cursor: { bytes: 9, seq: 1 }, warnings: [] }
  assert.deepEqual(
    advance('s', part, { before }).history.messages.map(({ content }) => content),
    ['new'],
  )
})

test('replay() begins with the archive of the last marker, and knows whether it exists', () => {
  const marker = (name: string, seq: number): SessionLine => ({
    ...{ kind: 'compact', archive_name: name, archived_at: TS, title: 'T' },
    ...{ seq, ts: TS },
  })
  const archives = new Map([['s-2', 'They met.']])
  const { messages, archive } = replay(NO_HISTORY, [marker('s-1', 1), marker('s-2', 2)], archives)
  assert.equal(messages.length, 1)
  assert.match(messages[0]!.content, /archived as "s-2"[\s\S]*<summary>\nThey met\.\n<\/summary>$/)
  assert.deepEqual(archive, { name: 's-2', isThere: true })
  assert.deepEqual(replay(NO_HISTORY, [marker('s-1', 1)], archives).archive, { name: 's-1', isThere: false })
})
