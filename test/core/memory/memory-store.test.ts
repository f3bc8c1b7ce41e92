import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'
import { findEntry } from '../../../src/core/memory/entries.ts'
import { MemoryStore } from '../../../src/core/memory/memory-store.ts'
import type { Op } from '../../../src/core/memory/ops.ts'
import { EMPTY_MEMORY } from '../../../src/core/memory/types.ts'
import { mountReadOnly } from '../../support/small-disk.ts'
import { VECTORS } from './vectors.ts'

const NEVER = new AbortController().signal
const run = promisify(execFile)
const add = (name: string): Op => {
  return { op: 'add', createdAt: 1n, kind: 'note', name, content: name, aliases: [] }
}

test('read() is empty before the first change, and makes no file', async () => {
  await using home = await openHome()
  assert.deepEqual(await home.open().read('crab'), EMPTY_MEMORY)
  assert.deepEqual(await readdir(home.path), [])
})

test('apply() is there for the next reader, in this store and in others, in a private file', async () => {
  await using home = await openHome()
  const [store, other] = [home.open(), home.open()]
  await other.read('crab')
  await store.apply('crab', add('a'), NEVER)
  await other.apply('crab', add('b'), NEVER)
  assert.deepEqual(await store.read('crab'), await other.read('crab'))
  assert.ok(findEntry(await store.read('crab'), 'a') && findEntry(await store.read('crab'), 'b'))
  assert.deepEqual(await readdir(join(home.path, 'memory')), ['crab.db'])
  assert.equal((await stat(join(home.path, 'memory', 'crab.db'))).mode & 0o777, 0o600)
})

test('apply() that throws changes nothing', async () => {
  await using home = await openHome()
  const store = home.open()
  await store.apply('crab', add('a'), NEVER)
  await assert.rejects(store.apply('crab', add('a'), NEVER), { kind: 'conflict' })
  assert.equal((await store.read('crab')).entries.length, 1)
})

test('a file that is no memory file is refused with its path, and stays as it is', async () => {
  await using home = await openHome()
  await mkdir(join(home.path, 'memory'))
  const path = join(home.path, 'memory', 'crab.db')
  for (const content of ['', 'CRMEM\0', 'hello']) {
    await writeFile(path, content)
    const refused = { kind: 'storage', message: new RegExp(`Cannot read ${path}: this is no memory file`) }
    await assert.rejects(home.open().read('crab'), refused)
    await assert.rejects(home.open().apply('crab', add('a'), NEVER), refused)
    assert.equal(await readFile(path, 'utf8'), content)
  }
  await writeFile(path, Buffer.from(VECTORS.threeEntries, 'hex'))
  assert.equal((await home.open().read('crab')).entries.length, 3)
})

test('apply() fails with storage where nothing can be written', async () => {
  await using home = await openHome()
  await home.open().apply('crab', add('a'), NEVER)
  using mount = mountReadOnly(join(home.path, 'memory'))
  if (!mount) return
  const store = new MemoryStore({
    folder: mount.path,
    lock: async () => new AsyncDisposableStack(),
    now: Date.now,
  })
  await assert.rejects(store.apply('crab', add('b'), NEVER), { kind: 'storage' })
  assert.equal((await store.read('crab')).entries.length, 1)
})

test('no name leads out of the folder', async () => {
  await using home = await openHome()
  for (const name of ['../x', '', '.', 'a/b']) {
    await assert.rejects(home.open().read(name), { kind: 'invalid' })
  }
})

test('4 processes that change one memory lose nothing', async () => {
  await using home = await openHome()
  const program = join(import.meta.dirname, 'memory-program.ts')
  const names = ['p0', 'p1', 'p2', 'p3']
  await Promise.all(names.map((name) => run(process.execPath, [program, home.path, name, '10'])))
  const { entries, nextId } = await home.open().read('crab')
  assert.deepEqual([entries.length, nextId], [40, 41n])
  assert.equal(new Set(entries.map(({ name }) => name)).size, 40)
})

test('rename() moves a memory with what it is renamed for, and leaves it where that fails', async () => {
  await using home = await openHome()
  const store = home.open()
  await store.apply('old', add('a'), NEVER)
  await assert.rejects(
    store.rename('old', 'new', () => Promise.reject(new Error('no')), NEVER),
    {
      message: 'no',
    },
  )
  assert.deepEqual(await readdir(join(home.path, 'memory')), ['old.db'])
  assert.equal(await store.rename('old', 'new', async () => 'done', NEVER), 'done')
  assert.deepEqual(await readdir(join(home.path, 'memory')), ['new.db'])
  assert.deepEqual((await store.read('old')).entries, [])
  assert.equal((await store.read('new')).entries.length, 1)
  await store.rename('new', 'New', async () => undefined, NEVER)
  assert.deepEqual(await readdir(join(home.path, 'memory')), ['New.db'])
  await store.apply('other', add('b'), NEVER)
  const conflict = store.rename('New', 'other', async () => assert.fail('never called'), NEVER)
  await assert.rejects(conflict, { kind: 'conflict' })
})

test('rename() gives an agent without memory no memory that lies under its new name', async () => {
  await using home = await openHome()
  const store = home.open()
  await store.apply('gone', add('a secret'), NEVER)
  await assert.rejects(
    store.rename('old', 'gone', async () => assert.fail('never called'), NEVER),
    { kind: 'conflict', message: /another memory lies in .*gone\.db/ },
  )
  assert.equal(await store.rename('old', 'new', async () => 'done', NEVER), 'done')
})

test('one memory has one lease, however its name is written', async () => {
  await using home = await openHome()
  const taken: string[] = []
  const lock = async (name: string) => {
    taken.push(name)
    return new AsyncDisposableStack()
  }
  const store = new MemoryStore({ folder: join(home.path, 'memory'), lock, now: Date.now })
  for (const name of ['é', 'e\u0301']) await store.apply(name, add(`of ${taken.length}`), NEVER)
  await store.rename('é', 'e\u0301', async () => undefined, NEVER)
  assert.deepEqual(taken, ['memory:é', 'memory:é', 'memory:é'])
  assert.equal((await store.read('é')).entries.length, 2)
})

async function openHome() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const leases: SqliteLeases[] = []
  return {
    path: dir.path,
    open() {
      const run = join(dir.path, 'run')
      const own = new SqliteLeases({ database: join(run, 'leases.db'), proc: join(run, 'proc') })
      leases.push(own)
      return new MemoryStore({
        folder: join(dir.path, 'memory'),
        lock: (name, signal) => own.take(name, signal),
        now: Date.now,
      })
    },
    async [Symbol.asyncDispose]() {
      for (const own of leases) await own[Symbol.asyncDispose]()
      await dir.remove()
    },
  }
}
