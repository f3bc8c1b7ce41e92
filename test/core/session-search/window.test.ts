import assert from 'node:assert/strict'
import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Message } from '../../../src/core/base/message.ts'
import { QueryWords } from '../../../src/core/search/terms/query-words.ts'
import { DOCUMENT_KINDS, type DocumentKind, type Excerpt } from '../../../src/core/session-search/types.ts'
import { readWindow } from '../../../src/core/session-search/window.ts'
import { encodeHeader, encodeLines } from '../../../src/core/storage/session-file.ts'
import type { NewLine, SessionHeader } from '../../../src/core/storage/types.ts'
import { CREDENTIALS } from '../../support/mcp/credentials.ts'

const NEVER = new AbortController().signal
const CREATED = '2026-01-02T03:04:05.000Z'
const HEADER: SessionHeader = {
  v: 1,
  agent: 'crab',
  agent_id: 'x',
  created_by: 'user',
  created_at: CREATED,
  cwd: '/',
}
let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crabtalk-window-'))
})
after(() => rm(folder, { recursive: true }))

const user = (content: string): NewLine => ({ kind: 'entry', role: 'user', content })
const assistant = (content: string, more: Partial<Message> = {}): NewLine => ({
  kind: 'entry',
  role: 'assistant',
  content,
  ...more,
})
const result = (content: string): NewLine => ({
  kind: 'entry',
  role: 'tool',
  content,
  tool_call_id: '1',
  name: 'bash',
})
const CALL = { tool_calls: [{ id: '1', name: 'bash', arguments: '{"command":"crontab -l"}' }] }
const DONE: NewLine = { kind: 'event', event: 'done', model: 'm', usage: undefined, stop_reason: 'end' }

/**
 * Writes a session file and returns the offsets of its lines: the line with `seq` n at n, the header at 0.
 */
async function writeSession(lines: readonly NewLine[]): Promise<{ path: string; offsets: number[] }> {
  const path = join(folder, `${Math.random()}.jsonl`)
  return {
    path,
    offsets: await writeTexts(path, [encodeHeader(HEADER), ...encodeLines(lines, 0, Date.parse(CREATED))]),
  }
}

async function writeTexts(path: string, texts: readonly string[]): Promise<number[]> {
  await writeFile(path, texts.join(''))
  let end = 0
  return texts.map((text) => {
    const start = end
    end += Buffer.byteLength(text)
    return start
  })
}

interface WindowRequest {
  query?: string
  kind?: DocumentKind
  before?: number
  after?: number
}

function windowAt(
  { path, offsets }: { path: string; offsets: readonly number[] },
  seq: number,
  { query = 'cron', kind = 'user', before: front = 4, after: behind = 4 }: WindowRequest = {},
): Promise<Excerpt[] | undefined> {
  const isMeta = kind === 'title' || kind === 'summary'
  const place = { kind: DOCUMENT_KINDS.indexOf(kind), seq: isMeta ? 0 : seq, offset: offsets[seq]! }
  return readWindow({ path, words: new QueryWords(query), ...place, before: front, after: behind }, NEVER)
}

const seqs = (window: readonly Excerpt[] | undefined) => window?.map(({ seq }) => seq)

test('readWindow() returns the match with the messages around it, oldest first', async () => {
  const session = await writeSession([
    user('what runs at night?'),
    assistant('I look', CALL),
    result('0 3 * * * cron backup'),
    DONE,
    assistant('A cron job: the backup'),
    user('thanks'),
  ])
  const window = await windowAt(session, 5, { kind: 'assistant' })
  assert.deepEqual(
    window?.map(({ role, toolName, snippet, matches }) => [role, toolName, snippet, matches]),
    [
      ['user', '', 'what runs at night?', []],
      ['assistant', 'bash', 'I look\nbash crontab -l', []],
      ['tool', 'bash', '0 3 * * * cron backup', []],
      ['assistant', '', 'A cron job: the backup', [2, 6]],
      ['user', '', 'thanks', []],
    ],
  )
  assert.deepEqual(seqs(window), [1, 2, 3, 5, 6])
  assert.deepEqual(new Set(window?.map(({ ts }) => ts)), new Set([CREATED]))
})

test('readWindow() keeps the match among at most 16 messages, for any request', async () => {
  const session = await writeSession(Array.from({ length: 60 }, (_, i) => user(`cron ${i + 1}`)))
  const bounds = async (front: number, behind: number) => {
    const found = seqs(await windowAt(session, 30, { before: front, after: behind }))!
    assert.ok(found.includes(30))
    return [found[0], found.at(-1), found.length]
  }
  assert.deepEqual(await bounds(4, 4), [26, 34, 9])
  assert.deepEqual(await bounds(0, 0), [30, 30, 1])
  assert.deepEqual(await bounds(100, 0), [15, 30, 16])
  assert.deepEqual(await bounds(0, 100), [30, 45, 16])
  assert.deepEqual(await bounds(100, 100), [22, 37, 16])
  assert.deepEqual(await bounds(3, 100), [27, 42, 16])
})

test('readWindow() reads as far as it must, also through long lines', async () => {
  const long = 'x'.repeat(150_000)
  const session = await writeSession([
    user('first'),
    assistant(long),
    DONE,
    user(`cron ${long}`),
    assistant(long),
    user('last'),
  ])
  const window = await windowAt(session, 4)
  assert.deepEqual(seqs(window), [1, 2, 4, 5, 6])
  assert.ok(window?.every(({ snippet }) => Buffer.byteLength(snippet) <= 1024))
  assert.deepEqual(
    window?.map(({ truncated }) => truncated),
    [false, true, true, true, false],
  )
})

test('readWindow() stops at the start and at the end of a file', async () => {
  const session = await writeSession([user('cron'), user('more')])
  assert.deepEqual(seqs(await windowAt(session, 1)), [1, 2])
  assert.deepEqual(seqs(await windowAt(session, 2, { query: 'more' })), [1, 2])
})

test('readWindow() puts a title, or a summary, before the first messages', async () => {
  const session = await writeSession([
    user('hello'),
    assistant('hi'),
    user('more'),
    { kind: 'meta', title: 'Cron jobs', summary: 'About cron' },
  ])
  const title = await windowAt(session, 4, { kind: 'title', after: 2 })
  assert.deepEqual(
    title?.map(({ seq, role, snippet, matches }) => [seq, role, snippet, matches]),
    [
      [0, 'title', 'Cron jobs', [0, 4]],
      [1, 'user', 'hello', []],
      [2, 'assistant', 'hi', []],
    ],
  )
  const summary = await windowAt(session, 4, { kind: 'summary', after: 0 })
  assert.deepEqual(
    summary?.map(({ role, snippet }) => [role, snippet]),
    [['summary', 'About cron']],
  )
})

test('readWindow() accepts torn tails, unreadable lines and lines of newer builds', async () => {
  const path = join(folder, 'odd.jsonl')
  const entry = (seq: number | undefined, content: string) =>
    `${JSON.stringify({ seq, ts: CREATED, kind: 'entry', role: 'user', content })}\n`
  const texts = [
    encodeHeader(HEADER),
    entry(1, 'first'),
    '\n',
    'no json\n',
    entry(3, 'second'),
    '{"kind":"of a newer build"}\n',
    entry(5, 'cron'),
    entry(undefined, 'without a number'),
    '\xff\n',
    entry(9, 'last'),
    '{"seq":10,"ts":"","kind":"entry","role":"user","content":"torn',
  ]
  const offsets = await writeTexts(path, texts)
  const words = new QueryWords('cron')
  const window = await readWindow(
    { path, words, kind: 0, seq: 5, offset: offsets[6]!, before: 9, after: 6 },
    NEVER,
  )
  assert.deepEqual(seqs(window), [1, 3, 5, 6, 9])
})

test('readWindow() reads a session that lost its header', async () => {
  const path = join(folder, 'headless.jsonl')
  const offsets = await writeTexts(path, encodeLines([user('cron'), user('more')], 0, 0))
  const words = new QueryWords('cron')
  const request = { path, words, kind: 0, seq: 1, offset: offsets[0]!, before: 4, after: 4 }
  assert.deepEqual(seqs(await readWindow(request, NEVER)), [1, 2])
})

test('readWindow() returns nothing if the file has no such line', async () => {
  const session = await writeSession([user('cron'), DONE, result('cron'), { kind: 'meta', title: 'Cron' }])
  const { path, offsets } = session
  const off = (by: number) => ({ path, offsets: offsets.map((offset) => offset + by) })
  assert.equal(await windowAt(off(1), 1), undefined)
  assert.equal(await windowAt(off(1_000_000), 1), undefined)
  assert.equal(await windowAt({ path, offsets: [0, offsets[2]!] }, 1), undefined)
  assert.equal(await windowAt(session, 2), undefined)
  assert.equal(await windowAt(session, 4, { kind: 'summary' }), undefined)
  assert.equal(await windowAt(session, 4), undefined)
  assert.equal(await windowAt({ ...session, path: join(folder, 'none.jsonl') }, 1), undefined)
  await truncate(path, offsets[1]! + 5)
  assert.equal(await windowAt(session, 1), undefined)
  await appendFile(path, '\n')
  assert.equal(await windowAt(session, 1), undefined)
})

test('readWindow() matches no other message, and no part of a line', async () => {
  const session = await writeSession([user('cron'), user('cron')])
  const { path, offsets } = session
  assert.equal(await windowAt({ path, offsets: [0, offsets[2]!] }, 1), undefined)
  const [line = ''] = encodeLines([user('cron')], 0, 0)
  const shifted = join(folder, 'shifted.jsonl')
  await writeTexts(shifted, [encodeHeader(HEADER), `x${line}`])
  assert.equal(await windowAt({ path: shifted, offsets: [0, offsets[1]! + 1] }, 1), undefined)
})

test('readWindow() hides secrets in every message, including tool results', async () => {
  const token = CREDENTIALS['a GitHub token']!
  const session = await writeSession([
    result(`the token is ${token}`),
    assistant('cron', {
      tool_calls: [
        { id: '1', name: 'fetch', arguments: `{"url":"https://x/?k=${token}","password":"a1b2c3"}` },
      ],
    }),
    user(`DB_PASSWORD=hunter2 and ${token}`),
  ])
  const window = await windowAt(session, 2, { kind: 'tool_use' })
  assert.equal(window?.length, 3)
  for (const { snippet } of window ?? []) assert.ok(!/ghp_|hunter2|a1b2c3/.test(snippet), snippet)
})

test('readWindow() ends with its signal', async () => {
  const session = await writeSession([user('cron')])
  const request = {
    path: session.path,
    words: new QueryWords('cron'),
    kind: 0,
    seq: 1,
    offset: 0,
    before: 1,
    after: 1,
  }
  await assert.rejects(readWindow(request, AbortSignal.abort()), { name: 'AbortError' })
})
