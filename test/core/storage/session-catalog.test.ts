import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import { encodeLines } from '../../../src/core/storage/session-file.ts'
import type { SessionSummary } from '../../../src/core/storage/types.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { mountReadOnly } from '../../support/small-disk.ts'
import { makeHeader, toLine } from './samples.ts'

/** Creates enough new sessions for the catalog to be saved. */
const MANY = 40
const more = encodeLines([toLine('more')], 2, Date.UTC(2026, 0, 3))[0]!

test('listSessions() saves what it read, for the next process', async () => {
  await using home = await openHome(MANY)
  for (const name of readdirSync(home.sessions)) utimesSync(join(home.sessions, name), 1e9, 1e9)
  const rows = await home.open().listSessions({})
  assert.deepEqual(readdirSync(home.index), ['sessions.json'])
  assert.equal(statSync(home.catalog).mode & 0o777, 0o600)
  for (const { id } of rows) forge(home.file(id))
  assert.deepEqual(
    await home.open().listSessions({}),
    rows,
    'files of the same size and time are not read again',
  )
})

test('listSessions() writes nothing for a few sessions', async () => {
  await using home = await openHome(3)
  assert.equal((await home.open().listSessions({})).length, 3)
  assert.throws(() => readdirSync(home.index), { code: 'ENOENT' })
})

test('listSessions() reads only the appended part of a file', async () => {
  await using home = await openHome(1)
  const storage = home.open()
  const [row] = await storage.listSessions({})
  forge(home.file(row!.id))
  appendFileSync(home.file(row!.id), more)
  const [grown] = await storage.listSessions({})
  assert.deepEqual([grown?.title, grown?.messageCount], ['title', 2])
})

test('listSessions() detects a longer file by its size alone', async () => {
  await using home = await openHome(1)
  const storage = home.open()
  const [name] = readdirSync(home.sessions)
  const path = join(home.sessions, name!)
  utimesSync(path, 1e9, 1e9)
  await storage.listSessions({})
  appendFileSync(path, more)
  utimesSync(path, 1e9, 1e9)
  assert.equal((await storage.listSessions({}))[0]?.messageCount, 2)
})

test('listSessions() reads a file again that was replaced by a longer one', async () => {
  await using home = await openHome(1)
  const storage = home.open()
  const [row] = await storage.listSessions({})
  const path = home.file(row!.id)
  writeFileSync(`${path}.new`, readFileSync(path, 'utf8') + more)
  forge(`${path}.new`)
  renameSync(`${path}.new`, path)
  assert.equal((await storage.listSessions({}))[0]?.title, 'faked')
})

test('listSessions() reads a file again that shrank, was edited in place, or was replaced', async () => {
  await using home = await openHome(1)
  const storage = home.open()
  const [{ id }] = (await storage.listSessions({})) as [SessionSummary]
  const path = home.file(id)
  const original = readFileSync(path, 'utf8')
  const readTitle = async () => (await storage.listSessions({}))[0]?.title
  writeFileSync(path, original.replace('title":"title', 'title":"t'))
  assert.equal(await readTitle(), 't')
  writeFileSync(path, original.replace('title":"title', 'title":"u'))
  utimesSync(path, 1, 1)
  assert.equal(await readTitle(), 'u')
  writeFileSync(path, original.replace('title":"title', 'title":"a longer one'))
  assert.equal(await readTitle(), 'a longer one')
  rmSync(path)
  writeFileSync(path, original)
  assert.equal(await readTitle(), 'title')
})

test('listSessions() forgets deleted sessions, saved ones too', async () => {
  await using home = await openHome(MANY)
  const storage = home.open()
  const [first] = await storage.listSessions({})
  await storage.deleteSession(first!.id)
  assert.equal((await storage.listSessions({})).length, MANY - 1)
  assert.equal((await home.open().listSessions({})).length, MANY - 1)
  for (let count = 0; count < MANY; count += 1) await home.add()
  await storage.listSessions({})
  assert.equal(readFileSync(home.catalog, 'utf8').includes(first!.id), false)
})

test('a damaged catalog is rebuilt without a warning', async () => {
  await using home = await openHome(MANY)
  const rows = await home.open().listSessions({})
  const good = readFileSync(home.catalog)
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
      const bad = Buffer.from(good)
      bad[at]! ^= mask
      writeFileSync(home.catalog, bad)
      assert.deepEqual(await home.open().listSessions({}), rows)
    }),
    { numRuns: propertyRuns(200, 20) },
  )
  for (const content of ['', '\n', 'null', '{}', '[[1]]', good.subarray(0, good.length / 2)]) {
    writeFileSync(home.catalog, content)
    assert.deepEqual(await home.open().listSessions({}), rows)
  }
})

test('listSessions() works where no catalog can be written', async () => {
  await using home = await openHome(MANY)
  writeFileSync(home.index, 'in the way')
  assert.equal((await home.open().listSessions({})).length, MANY)
  using mount = mountReadOnly(home.path)
  if (mount) assert.equal((await openStorage(mount.path).listSessions({})).length, MANY)
  rmSync(home.index)
  mkdirSync(home.catalog, { recursive: true })
  assert.equal((await home.open().listSessions({})).length, MANY)
})

test('many concurrent lists and writes finally agree', async () => {
  await using home = await openHome(MANY)
  const storages = Array.from({ length: 6 }, () => home.open())
  await Promise.all(storages.map((storage) => storage.listSessions({})))
  const working = storages.map(async (storage, index) => {
    const { id, cursor } = await storage.createSession(makeHeader({ created_by: `s${index}` }), [
      toLine('one'),
    ])
    await storage.listSessions({})
    await storage.append(id, cursor, [toLine('two')])
    return storage.listSessions({})
  })
  await Promise.all(working)
  const truth = await home.open().listSessions({})
  assert.equal(truth.length, MANY + 6)
  for (const storage of storages) assert.deepEqual(await storage.listSessions({}), truth)
})

/** Changes the title in a file without changing its size and inode, and dates it as the first test does. */
function forge(path: string): void {
  writeFileSync(path, readFileSync(path, 'utf8').replace('"title":"title"', '"title":"faked"'))
  utimesSync(path, 1e9, 1e9)
}

async function openHome(count: number) {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const sessions = join(dir.path, 'sessions')
  const index = join(dir.path, 'index')
  const writer = openStorage(dir.path)
  const add = () =>
    writer.createSession(makeHeader({ created_by: 'many' }), [
      toLine('hello'),
      { kind: 'meta', title: 'title' },
    ])
  for (let made = 0; made < count; made += 1) await add()
  return {
    path: dir.path,
    sessions,
    index,
    catalog: join(index, 'sessions.json'),
    file: (id: string) => join(sessions, `${id}.jsonl`),
    open: () => openStorage(dir.path),
    add,
    [Symbol.asyncDispose]: () => dir.remove(),
  }
}

function openStorage(home: string): DiskStorage {
  return new DiskStorage({ sessions: join(home, 'sessions'), index: join(home, 'index') })
}
