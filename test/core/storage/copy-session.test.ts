import assert from 'node:assert/strict'
import { appendFile, mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import { makeHeader, toLine } from './samples.ts'

test('copySession() copies unknown lines, but no torn tail', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const storage = new DiskStorage({ sessions: dir.path, index: join(dir.path, 'index') })
  const { id } = await storage.createSession(makeHeader(), [toLine('one')])
  const later = '{"seq":2,"ts":"2027-01-01T00:00:00.000Z","kind":"dream","of":"crabs"}\n'
  await appendFile(join(dir.path, `${id}.jsonl`), `${later}{"seq":3,"kind":"ent`)
  const copy = await storage.copySession(id, { ...makeHeader(), forked_from: id }, Number.POSITIVE_INFINITY)
  const [header, ...lines] = (await readFile(join(dir.path, `${copy}.jsonl`), 'utf8')).split(/(?<=\n)/)
  assert.equal(JSON.parse(header!).forked_from, id)
  assert.equal(lines.length, 2)
  assert.equal(lines[1], later)
})
