import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { toSessionQuery } from '../../src/core/session-search/session-query.ts'
import { SessionFolder } from '../../src/core/storage/session-folder.ts'
import { lazySessionIndex } from '../../src/daemon/lazy-session-index.ts'

test('lazySessionIndex() opens nothing once it is disposed, whether it was warming or is asked later', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const path = join(dir.path, 'sessions')
  mkdirSync(path)
  writeFileSync(join(path, '0123456789abcdef-01KDVDNAZ8ACK9PT7ZAC1RJAPN.jsonl'), '{}\n')
  const folder = new SessionFolder({ path })
  let opened = 0
  const search = lazySessionIndex(folder, async () => {
    opened++
    throw new Error('nobody may open it')
  })
  search.warm()
  await search[Symbol.asyncDispose]()
  assert.equal((await folder.refresh()).length, 1)
  await new Promise(setImmediate)
  search.changed({ id: 'any', change: 'deleted' })
  const query = toSessionQuery({ text: 'fox' })
  await assert.rejects(search.search(query, new AbortController().signal), { kind: 'cancelled' })
  assert.equal(opened, 0)
})
