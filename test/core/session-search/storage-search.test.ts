import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { QueryWords } from '../../../src/core/search/terms/query-words.ts'
import { toSessionQuery } from '../../../src/core/session-search/session-query.ts'
import { StorageSearch } from '../../../src/core/session-search/storage-search.ts'
import { readWindow } from '../../../src/core/session-search/window.ts'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import { MemoryStorage } from '../../../src/core/storage/memory-storage.ts'
import { noSuchSession } from '../../../src/core/storage/session-errors.ts'
import type { NewLine } from '../../../src/core/storage/types.ts'
import { makeHeader, toLine } from '../storage/samples.ts'

const NEVER = new AbortController().signal

test('StorageSearch finds what was appended, copied and retitled since, and nothing that was deleted', async () => {
  const storage = new MemoryStorage()
  const search = new StorageSearch(storage)
  const find = async (text: string) =>
    (await search.search(toSessionQuery({ text }), NEVER)).matches.map(
      ({ session, seq }) => `${session} ${seq}`,
    )
  assert.deepEqual(await find('ferry'), [])
  const { id, cursor } = await storage.createSession(makeHeader(), [toLine('the ferry')])
  assert.deepEqual(await find('ferry'), [`${id} 1`])
  const end = await storage.append(id, cursor, [
    toLine('no boat', 'assistant'),
    { kind: 'meta', title: 'Islands' },
  ])
  assert.deepEqual(await find('boat'), [`${id} 2`])
  assert.deepEqual(await find('islands'), [`${id} 0`])
  await storage.append(id, end, [{ kind: 'meta', title: 'Lakes' }])
  assert.deepEqual([await find('islands'), await find('lakes')], [[], [`${id} 0`]])
  const copy = await storage.copySession(id, makeHeader({ forked_from: id }), 1)
  assert.deepEqual((await find('ferry')).toSorted(), [`${copy} 1`, `${id} 1`].toSorted())
  await storage.deleteSession(id)
  assert.deepEqual([await find('ferry'), await find('boat')], [[`${copy} 1`], []])
})

test('StorageSearch shows the same context of a match as a home does', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-search-'))
  const storage = new DiskStorage({ sessions: folder.path, index: join(folder.path, 'index'), now: Date.now })
  const call = { id: 'a', name: 'read', arguments: '{"path":"x"}' }
  const lines: NewLine[] = [
    toLine('one'),
    { kind: 'entry', role: 'assistant', content: 'two', tool_calls: [call] },
    { kind: 'entry', role: 'tool', content: 'needle', name: 'read', tool_call_id: 'a' },
    toLine(`three ${'long '.repeat(400)} needle ${'tail '.repeat(400)}`),
    { kind: 'meta', title: 'About needle points' },
    toLine('five'),
  ]
  const { id } = await storage.createSession(makeHeader(), [])
  await storage.append(id, (await storage.read(id)).cursor, lines)
  const search = new StorageSearch(storage)
  for (const [text, kind, seq, before, after] of [
    ['needle', 3, 0, 2, 2],
    ['three needle long tail', 0, 4, 2, 1],
    ['two', 2, 2, 9, 9],
  ] as const) {
    const query = toSessionQuery({ text, contextBefore: before, contextAfter: after })
    const [match] = (await search.search(query, NEVER)).matches
    const path = join(folder.path, `${id}.jsonl`)
    const offset = await findOffset(path, kind === 3 ? 5 : seq)
    const own = await readWindow(
      { path, words: new QueryWords(text), kind, seq, offset, before, after },
      NEVER,
    )
    assert.ok(own)
    assert.deepEqual([match?.seq, match?.window], [seq, own], text)
  }
})

/** Returns the offset of the line with that number; the header is line 0. */
async function findOffset(path: string, line: number): Promise<number> {
  const { readFile } = await import('node:fs/promises')
  const lines = (await readFile(path, 'utf8')).split('\n')
  return Buffer.byteLength(lines.slice(0, line).join('\n')) + 1
}

test('StorageSearch omits a session that disappears during a search, without an error', async () => {
  const storage = new MemoryStorage()
  const gone = await storage.createSession(makeHeader(), [toLine('fox')])
  const remaining = await storage.createSession(makeHeader(), [toLine('a fox and more words')])
  const query = toSessionQuery({ text: 'fox' })
  for (const when of ['before its first reading', 'before its window is read']) {
    let reads = 0
    const search = new StorageSearch({
      listSessions: (filter) => storage.listSessions(filter),
      async read(id, since) {
        reads++
        const isGone = when === 'before its first reading' || reads > 2
        if (id === gone.id && isGone) throw noSuchSession(`Cannot read session ${id}`)
        return await storage.read(id, since)
      },
    })
    const { matches } = await search.search(query, NEVER)
    assert.deepEqual(
      matches.map(({ session }) => session),
      [remaining.id],
      when,
    )
  }
})
