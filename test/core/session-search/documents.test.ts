import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message, ToolCall } from '../../../src/core/base/message.ts'
import { buildReviewTask } from '../../../src/core/base/task-texts.ts'
import { wrapShellLine } from '../../../src/core/base/typed-message.ts'
import { toDocuments } from '../../../src/core/session-search/documents.ts'
import { DOCUMENT_KINDS } from '../../../src/core/session-search/types.ts'
import type { NewLine } from '../../../src/core/storage/types.ts'
import { CREDENTIALS } from '../../support/mcp/credentials.ts'

const STAMP = { seq: 7, ts: '2026-01-02T03:04:05.000Z' }
const documents = (line: NewLine) =>
  toDocuments({ ...STAMP, ...line }).map(({ kind, text }) => `${DOCUMENT_KINDS[kind]}: ${text}`)
const entry = (message: Partial<Message>) =>
  documents({ kind: 'entry', role: 'assistant', content: '', ...message })
const call = (name: string, args: unknown): ToolCall => ({ id: '1', name, arguments: JSON.stringify(args) })

test('toDocuments() returns messages of the user, the assistant and guests', () => {
  assert.deepEqual(entry({ role: 'user', content: 'the cron refactor' }), ['user: the cron refactor'])
  assert.deepEqual(entry({ content: 'it is done' }), ['assistant: it is done'])
  assert.deepEqual(entry({ content: 'I agree', agent: 'guest' }), ['assistant: I agree'])
})

test('toDocuments() returns what the user typed, without files, outputs and the tasks of commands', () => {
  const shell = wrapShellLine({ line: 'ls src', exitCode: 0, output: 'parser.ts' })
  const content = `${shell}\n\nread @a.txt\n\n<file path="a.txt">\nsecret plan\n</file>`
  assert.deepEqual(entry({ role: 'user', content }), ['user: ! ls src\nread @a.txt'])
  assert.deepEqual(entry({ role: 'user', content: buildReviewTask('working-tree') }), ['user: /review'])
})

test('toDocuments() returns the calls of a message, with the values of all arguments', () => {
  const calls = [
    call('bash', { command: 'git log', n: 3, env: { LANG: 'C' } }),
    call('grep', { words: ['a', 'b'] }),
  ]
  assert.deepEqual(entry({ content: 'I look', tool_calls: calls }), [
    'tool_use: I look\nbash git log 3 C\ngrep a b',
  ])
  assert.deepEqual(entry({ tool_calls: [call('now', {})] }), ['tool_use: now'])
})

test('toDocuments() keeps invalid JSON arguments, and very deep ones, as text', () => {
  assert.deepEqual(entry({ tool_calls: [{ id: '1', name: 'x', arguments: '{"cut' }] }), ['tool_use: x {"cut'])
  const deep = `${'['.repeat(5000)}"end"${']'.repeat(5000)}`
  assert.deepEqual(entry({ tool_calls: [{ id: '1', name: 'x', arguments: deep }] }), ['tool_use: x end'])
})

test('toDocuments() omits tool results, reasoning, attachments, events and markers', () => {
  assert.deepEqual(entry({ role: 'tool', content: 'a result', tool_call_id: '1' }), [])
  assert.deepEqual(entry({ reasoning: [{ text: 'hm' }] }), [])
  assert.deepEqual(entry({ role: 'user', attachments: [{ media_type: 'image/png', data: 'aGk=' }] }), [])
  assert.deepEqual(documents({ kind: 'event', event: 'user_steered', content: 'faster' }), [])
  assert.deepEqual(
    documents({ kind: 'compact', archive_name: 'x-1', archived_at: '', title: 'what was' }),
    [],
  )
})

test('toDocuments() returns title and summary, and reports when one was removed', () => {
  assert.deepEqual(documents({ kind: 'meta', title: 'Cron', summary: 'All of it' }), [
    'title: Cron',
    'summary: All of it',
  ])
  assert.deepEqual(documents({ kind: 'meta', title: '' }), ['title: '])
  assert.deepEqual(documents({ kind: 'meta', activated_at: STAMP.ts }), [])
})

test('toDocuments() omits secrets: by their form, and by the name they are under', () => {
  const token = CREDENTIALS['a GitHub token']!
  assert.deepEqual(entry({ role: 'user', content: `use ${token} for it` }), ['user: use   for it'])
  assert.deepEqual(documents({ kind: 'meta', title: `push ${token}` }), ['title: push  '])
  const args = {
    url: 'https://x.example',
    headers: { authorization: 'abc', accept: 'json' },
    secrets: ['one'],
    password: 1,
  }
  assert.deepEqual(entry({ tool_calls: [call('fetch', args)] }), ['tool_use: fetch https://x.example json'])
})

test('toDocuments() reads only the start of a very long text', () => {
  const [document] = toDocuments({ ...STAMP, kind: 'entry', role: 'user', content: 'word '.repeat(500_000) })
  assert.equal(document!.text.length, 512 * 1024)
})
