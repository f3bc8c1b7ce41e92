import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EntryReader } from '../../../src/core/runtime/entry-reader.ts'
import { listEntries, listSessions, sessionMeta } from '../../../src/core/runtime/session-pages.ts'
import { MemoryStorage } from '../../../src/core/storage/memory-storage.ts'
import { makeHeader, toLine } from '../storage/samples.ts'

test('listSessions() returns pages of the sessions with messages, and their number', async () => {
  let clock = 0
  const storage = new MemoryStorage({ now: () => ++clock })
  const senders = ['a', 'b', 'c', 'd']
  for (const created_by of senders)
    await storage.createSession(makeHeader({ created_by }), [toLine(created_by)])
  await storage.createSession(makeHeader({ created_by: 'nobody' }), [])
  const list = async (page: Parameters<typeof listSessions>[1]) => {
    const { sessions, total } = await listSessions(storage, page)
    return [sessions.map(({ sender }) => sender).join(''), total]
  }
  assert.deepEqual(await list({}), ['dcba', 4])
  assert.deepEqual(await list({ offset: 1, limit: 2 }), ['cb', 4])
  assert.deepEqual(await list({ sender: 'b', limit: 2 }), ['b', 1])
  assert.deepEqual(await list({ offset: 4 }), ['', 4])
})

test('listEntries() returns pages of messages without other entries', async () => {
  const storage = new MemoryStorage()
  const lines = [toLine('one'), { kind: 'meta', title: 'T' } as const, toLine('two'), toLine('three')]
  const { id: session } = await storage.createSession(makeHeader(), lines)
  const reader = new EntryReader(storage)
  const list = async (page: { offset?: number; limit?: number }) => {
    const { messages, total } = await listEntries(reader, { session, ...page })
    return [messages.map(({ content }) => content).join(' '), total]
  }
  assert.deepEqual(await list({}), ['one two three', 3])
  assert.deepEqual(await list({ offset: 1, limit: 1 }), ['two', 3])
  assert.deepEqual(await list({ offset: 3, limit: 1 }), ['', 3])
})

test('sessionMeta() returns the latest title, summary and number of messages', async () => {
  const storage = new MemoryStorage()
  const { id } = await storage.createSession(makeHeader({ cwd: '/usr' }), [
    toLine('one'),
    { kind: 'meta', title: 'First', summary: 'S' },
    { kind: 'meta', title: 'Second' },
  ])
  const row = await sessionMeta(storage, id)
  const { title, summary, messageCount, cwd, sender } = row.summary
  assert.deepEqual(
    [title, summary, messageCount, cwd, sender, row.isActive],
    ['Second', 'S', 1, '/usr', makeHeader().created_by, true],
  )
  await assert.rejects(sessionMeta(storage, `${id.slice(0, -2)}00`), { kind: 'missing' })
})
