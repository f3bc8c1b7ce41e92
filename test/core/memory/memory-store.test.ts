import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'
import { findMemoryEntry } from '../../../src/core/memory/entries.ts'
import { MemoryStore } from '../../../src/core/memory/memory-store.ts'
import type { Op } from '../../../src/core/memory/ops.ts'
import { rememberOp } from '../../../src/core/memory/remember.ts'
import { EMPTY_MEMORY, type Memory } from '../../../src/core/memory/types.ts'
import { mountReadOnly } from '../../support/small-disk.ts'
import { VECTORS } from './vectors.ts'

const NEVER = new AbortController().signal
const run = promisify(execFile)
const add = (name: string): Op => {
  return { op: 'add', createdAt: 1n, kind: 'note', name, content: name, aliases: [] }
}

test('read() is empty before the first change, and creates no file', async () => {
  await using home = await openHome()
  assert.deepEqual(await home.open().read('crab'), EMPTY_MEMORY)
  assert.deepEqual(await readdir(home.path), [])
})

test('apply() is visible to the next reader, in this store and in others, in a private file', async () => {
  await using home = await openHome()
  const [store, other] = [home.open(), home.open()]
  await other.read('crab')
  await store.apply('crab', add('a'), NEVER)
  await other.apply('crab', add('b'), NEVER)
  assert.deepEqual(await store.read('crab'), await other.read('crab'))
  assert.ok(findMemoryEntry(await store.read('crab'), 'a') && findMemoryEntry(await store.read('crab'), 'b'))
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

test('apply() changes the memory as it is under the lease', async () => {
  await using home = await openHome()
  const stores = [home.open(), home.open(), home.open()]
  const count = (store: MemoryStore) =>
    store.apply('crab', (memory) => rememberOp({ ...COUNTER, content: next(memory) })(memory), NEVER)
  await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, () => count(store))))
  const { entries } = await home.open().read('crab')
  assert.deepEqual([entries.length, entries[0]?.content], [1, 'x'.repeat(60)])
})

test('apply() that changes nothing writes nothing', async () => {
  await using home = await openHome()
  const store = home.open()
  await store.apply('crab', add('a'), NEVER)
  const path = join(home.path, 'memory', 'crab.db')
  const before = await stat(path, { bigint: true })
  const entry = await store.apply('crab', rememberOp({ name: 'a', content: 'a', aliases: [], now: 0 }), NEVER)
  assert.equal(entry.name, 'a')
  assert.deepEqual(await stat(path, { bigint: true }), before)
})

test('two files of one length, written within one clock tick, have different times', async () => {
  await using home = await openHome()
  const lock = async () => new AsyncDisposableStack()
  const store = new MemoryStore({ folder: join(home.path, 'memory'), lock, now: () => 5000 })
  const times: bigint[] = []
  for (const content of ['one', 'two', 'six']) {
    await store.apply('crab', rememberOp({ name: 'a', content, aliases: [], now: 0 }), NEVER)
    const { mtimeNs } = await stat(join(home.path, 'memory', 'crab.db'), { bigint: true })
    times.push(mtimeNs)
    assert.equal((await home.open().read('crab')).entries[0]?.content, content)
  }
  assert.equal(new Set(times).size, 3)
  assert.ok(
    times.every((time) => time >= 5_000_000_000n && time < 5_001_000_000n),
    String(times),
  )
})

test('a memory that another program replaced is read again', async () => {
  await using home = await openHome()
  const store = home.open()
  await store.apply('crab', add('a'), NEVER)
  await writeFile(join(home.path, 'memory', 'crab.db'), Buffer.from(VECTORS.threeEntries, 'hex'))
  await store.apply('crab', add('b'), NEVER)
  const { entries } = await store.read('crab')
  assert.deepEqual(
    entries.map(({ id, name }) => [id, name]),
    [
      [3n, 'deploy'],
      [5n, '螃蟹'],
      [7n, 'topic-x'],
      [8n, 'b'],
    ],
  )
})

test('search() finds changes, made here and by others', async () => {
  await using home = await openHome()
  const [store, other] = [home.open(), home.open()]
  const find = async (query: string) =>
    (await store.search('crab', { query, limit: 9 })).map(({ entry }) => entry.name)
  assert.deepEqual(await find('tide'), [])
  await store.apply('crab', add('tide'), NEVER)
  await other.apply('crab', add('tide table'), NEVER)
  assert.deepEqual(await find('tide'), ['tide', 'tide table'])
  await other.apply('crab', { op: 'remove', name: 'tide' }, NEVER)
  assert.deepEqual(await find('tide'), ['tide table'])
})

test('replace() puts entries in place of others, with new ids', async () => {
  await using home = await openHome()
  const store = home.open()
  for (const name of ['a', 'b']) await store.apply('crab', add(name), NEVER)
  const entry = { id: 0n, createdAt: 5n, kind: 'note', content: '', aliases: [] } as const
  const after = await store.replace(
    'crab',
    [
      { ...entry, name: 'b', id: 2n },
      { ...entry, name: 'young\n' },
      { ...entry, name: 'old', createdAt: 1n },
    ],
    NEVER,
  )
  assert.deepEqual(
    after.entries.map(({ id, name }) => [id, name]),
    [
      [2n, 'b'],
      [3n, 'old'],
      [4n, 'young\n'],
    ],
  )
  assert.deepEqual([await home.open().read('crab'), after.nextId], [after, 5n])
})

test('replace() rejects entries that share a name, and changes nothing', async () => {
  await using home = await openHome()
  const store = home.open()
  await store.apply('crab', add('a'), NEVER)
  const entry = { id: 0n, createdAt: 5n, kind: 'note', content: '', aliases: ['x'] } as const
  const wrong = [
    [{ ...entry, name: 'x' }],
    [{ ...entry, name: '' }],
    [{ ...entry, name: 'b', aliases: [''] }],
    [
      { ...entry, name: 'b' },
      { ...entry, name: 'c' },
    ],
    [
      { ...entry, name: 'b', id: 1n },
      { ...entry, name: 'c', id: 1n, aliases: [] },
    ],
    [{ ...entry, name: 'b', content: 'x'.repeat(2 ** 20 + 1) }],
  ]
  for (const entries of wrong) {
    await assert.rejects(store.replace('crab', entries, NEVER), { kind: 'invalid', message: /^Cannot / })
  }
  assert.deepEqual(
    (await store.read('crab')).entries.map(({ name }) => name),
    ['a'],
  )
})

test('checkpoint() writes the file, also of an empty memory', async () => {
  await using home = await openHome()
  const store = home.open()
  assert.equal(await store.has('crab'), false)
  await store.checkpoint('crab', NEVER)
  assert.equal(await store.has('crab'), true)
  const bytes = await readFile(join(home.path, 'memory', 'crab.db'))
  assert.equal(bytes.toString('hex'), VECTORS.empty)
})

test('leftovers of a killed writer are removed by the next change', async () => {
  await using home = await openHome()
  const folder = join(home.path, 'memory')
  await mkdir(folder)
  const left = ['crab.db.01K8ZZZZZZZZZZZZZZZZZZZZZZ.tmp', 'other.db.01K8ZZZZZZZZZZZZZZZZZZZZZZ.tmp']
  for (const name of left) await writeFile(join(folder, name), 'half')
  await home.open().apply('crab', add('a'), NEVER)
  assert.deepEqual((await readdir(folder)).sort(), ['crab.db', left[1]])
})

test('a writer that is killed at any moment loses nothing that it reported as written', async () => {
  await using home = await openHome()
  const program = join(import.meta.dirname, 'memory-program.ts')
  const names: string[] = []
  for (let round = 0; round < 6; round++) {
    const child = spawn(process.execPath, [program, home.path, `r${round}`, '1000'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const target = names.length + 1 + ((round * 7) % 11)
    for await (const line of createInterface({ input: child.stdout })) {
      names.push(line)
      if (names.length === target) child.kill('SIGKILL') // reports right before its death count, too
    }
    const { entries } = await home.open().read('crab')
    const retained = new Set(entries.map(({ name }) => name))
    assert.deepEqual(
      names.filter((name) => !retained.has(name)),
      [],
    )
  }
  await home.open().apply('crab', add('last'), NEVER)
  assert.deepEqual(await readdir(join(home.path, 'memory')), ['crab.db'])
})

test('an invalid memory file is rejected with its path, and stays as it is', async () => {
  await using home = await openHome()
  await mkdir(join(home.path, 'memory'))
  const path = join(home.path, 'memory', 'crab.db')
  for (const content of ['', 'CRMEM\0', 'hello']) {
    await writeFile(path, content)
    const refused = { kind: 'storage', message: new RegExp(`Cannot read ${path}: this is not a memory file`) }
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

test("rename() moves a memory together with its agent, and reverts when the agent's rename fails", async () => {
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

test('rename() gives an agent without memory no existing memory of the new name', async () => {
  await using home = await openHome()
  const store = home.open()
  await store.apply('gone', add('a secret'), NEVER)
  await assert.rejects(
    store.rename('old', 'gone', async () => assert.fail('never called'), NEVER),
    { kind: 'conflict', message: /another memory is at .*gone\.db/ },
  )
  assert.equal(await store.rename('old', 'new', async () => 'done', NEVER), 'done')
})

test('one memory has one lease for all spellings of its name', async () => {
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

const COUNTER = { name: 'counter', aliases: [], now: 0 }

function next({ entries }: Memory): string {
  return `${entries[0]?.content ?? ''}x`
}

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
