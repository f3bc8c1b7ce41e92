import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setImmediate as settle } from 'node:timers/promises'
import { ulid } from 'ulid'
import { SqliteLeases, type SqliteLeasesOptions } from '../../../src/core/lease/sqlite-leases.ts'
import type { Lease } from '../../../src/core/lease/types.ts'
import { mountReadOnly, mountSmallDisk } from '../../support/small-disk.ts'

const never = new AbortController().signal

test('SqliteLeases writes nothing before the first take, and leaves no owner file', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await using _unused = openLeases(dir.path)
  assert.deepEqual(readdirSync(dir.path), [])
  {
    await using leases = openLeases(dir.path)
    await using _lease = await leases.take('one', never)
    assert.equal(readdirSync(procPath(dir.path)).length, 1)
    assert.equal(statSync(join(dir.path, 'run')).mode & 0o777, 0o700)
    assert.equal(statSync(procPath(dir.path)).mode & 0o777, 0o700)
  }
  assert.deepEqual(readdirSync(procPath(dir.path)), [])
})

test('take() excludes other instances on the same database, first come first served', async () => {
  await using home = await openHome(3)
  const [a, b, c] = home.leases as [SqliteLeases, SqliteLeases, SqliteLeases]
  const order: string[] = []
  const first = await a.take('one', never)
  const takers = [
    ['b', b],
    ['c', c],
    ['a', a],
    ['c again', c],
  ] as const
  const waiting = takers.map(async ([name, leases]) => {
    await using _lease = await leases.take('one', never)
    order.push(name)
  })
  await first[Symbol.asyncDispose]()
  await Promise.all(waiting)
  assert.deepEqual(order, ['b', 'c', 'a', 'c again'])
})

test('disposing releases all leases, also to other instances', async () => {
  await using home = await openHome(2)
  const [a, b] = home.leases as [SqliteLeases, SqliteLeases]
  await a.take('one', never)
  const next = watch(b.take('one', never))
  await b.describeHolder('one')
  assert.equal(next.lease, undefined)
  await a[Symbol.asyncDispose]()
  await using lease = await next.taking
  assert.equal(next.lease, lease)
})

test('describeHolder() names the process that holds a resource', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await using a = openLeases(dir.path, { pid: 41, now: () => Date.UTC(2026, 1, 2) })
  await using b = openLeases(dir.path, { pid: 42 })
  assert.equal(await b.describeHolder('one'), undefined)
  await using _lease = await a.take('one', never)
  const holder = { pid: 41, startedAt: '2026-02-02T00:00:00.000Z' }
  assert.deepEqual(await b.describeHolder('one'), holder)
  assert.deepEqual(await a.describeHolder('one'), holder)
})

test('describeHolder() omits the id of a process that did not give one', async () => {
  await using home = await openHome(0)
  await using leases = new SqliteLeases({ database: databasePath(home.path), proc: procPath(home.path) })
  await using _lease = await leases.take('one', never)
  assert.equal((await leases.describeHolder('one'))?.pid, undefined)
})

test('describeHolder() skips dead owners', async () => {
  await using home = await openHome(1)
  await using _lease = await home.leases[0]!.take('other', never)
  insertRow(home.path, 'one', ulid())
  assert.equal(await home.leases[0]!.describeHolder('one'), undefined)
})

test('take() skips owners without a file, and files without a lock', async () => {
  await using home = await openHome(1)
  const [leases] = home.leases as [SqliteLeases]
  await using _other = await leases.take('other', never)
  const unlocked = ulid()
  await writeFile(join(procPath(home.path), unlocked), '')
  insertRow(home.path, 'one', ulid())
  insertRow(home.path, 'one', unlocked)
  await using _lease = await leases.take('one', never)
  assert.equal(existsSync(join(procPath(home.path), unlocked)), false)
})

test('take() recovers when the database is removed, and other instances use the new one', async () => {
  await using home = await openHome(2)
  const [a, b] = home.leases as [SqliteLeases, SqliteLeases]
  const held = await a.take('one', never)
  const waiting = b.take('one', never)
  rmSync(databasePath(home.path))
  rmSync(`${databasePath(home.path)}-journal`)
  await using _two = await a.take('two', never)
  await held[Symbol.asyncDispose]()
  await using _lease = await waiting
  const third = watch(a.take('one', never))
  await settle()
  assert.equal(third.lease, undefined)
})

test('take() recovers when the whole folder is removed', async () => {
  await using home = await openHome(2)
  const [a, b] = home.leases as [SqliteLeases, SqliteLeases]
  await using _one = await a.take('one', never)
  rmSync(join(home.path, 'run'), { recursive: true })
  await using _two = await a.take('two', never)
  const waiting = watch(b.take('two', never))
  await b.describeHolder('two')
  assert.equal(waiting.lease, undefined)
  assert.equal((await b.describeHolder('one'))?.pid, process.pid)
})

test('take() recovers when the database is emptied', async () => {
  await using home = await openHome(2)
  const [a, b] = home.leases as [SqliteLeases, SqliteLeases]
  const held = await a.take('one', never)
  truncateSync(databasePath(home.path))
  await using _two = await a.take('two', never)
  const waiting = watch(b.take('one', never))
  await b.describeHolder('one')
  assert.equal(waiting.lease, undefined)
  await held[Symbol.asyncDispose]()
  await using _lease = await waiting.taking
})

test('"take() fails with storage when the database stays another program\'s"', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await mkdir(join(dir.path, 'run'))
  {
    using other = new DatabaseSync(databasePath(dir.path))
    other.exec('CREATE TABLE lease (a)')
  }
  await using leases = openLeases(dir.path, { busyMs: 50 })
  await assert.rejects(leases.take('one', never), { kind: 'storage', message: /no such column|no column/ })
})

test('take() recovers when its owner file is removed, and creates a new one', async () => {
  await using home = await openHome(2)
  const [a, b] = home.leases as [SqliteLeases, SqliteLeases]
  await using _one = await a.take('one', never)
  for (const name of readdirSync(procPath(home.path))) rmSync(join(procPath(home.path), name))
  await using _two = await a.take('two', never)
  assert.equal((await b.describeHolder('two'))?.pid, process.pid)
  assert.equal((await b.describeHolder('one'))?.pid, process.pid)
})

for (const [what, content] of [
  ['text', 'no database '.repeat(1000)],
  ['zeros', '\0'.repeat(8192)],
  ['a torn page', undefined],
] as const) {
  test(`take() replaces a database that a power failure left as ${what}`, async () => {
    await using home = await openHome(2)
    const [a, b] = home.leases as [SqliteLeases, SqliteLeases]
    await mkdir(join(home.path, 'run'))
    writeFileSync(databasePath(home.path), content ?? tornDatabase(home.path))
    const held = await a.take('one', never)
    const waiting = watch(b.take('one', never))
    await settle()
    assert.equal(waiting.lease, undefined)
    await held[Symbol.asyncDispose]()
    await using _lease = await waiting.taking
  })
}

test('take() waits a limited time for a database that another process locks', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await using leases = openLeases(dir.path, { busyMs: 50 })
  await (await leases.take('one', never))[Symbol.asyncDispose]()
  using other = new DatabaseSync(databasePath(dir.path))
  other.exec('BEGIN EXCLUSIVE')
  await assert.rejects(leases.take('one', never), { kind: 'unavailable', message: /was locked for 50 ms/ })
  await assert.rejects(leases.describeHolder('one'), { kind: 'storage' })
  const patient = openLeases(dir.path)
  const waiting = patient.take('one', never)
  other.exec('ROLLBACK')
  await (await waiting)[Symbol.asyncDispose]()
  await patient[Symbol.asyncDispose]()
})

test('an abort does not wait for a database that another process locks', async () => {
  await using home = await openHome(1)
  const [leases] = home.leases as [SqliteLeases]
  const abort = new AbortController()
  const held = await leases.take('one', never)
  const waiting = leases.take('one', abort.signal)
  {
    using other = new DatabaseSync(databasePath(home.path))
    other.exec('BEGIN EXCLUSIVE')
    abort.abort()
    await assert.rejects(waiting, { kind: 'cancelled' })
    await held[Symbol.asyncDispose]()
  }
  await using _lease = await leases.take('one', never) // leases that could not be released before are released now
})

test('take() fails with storage and a hint below a file', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await writeFile(join(dir.path, 'file'), '')
  await using leases = openLeases(join(dir.path, 'file'))
  await assert.rejects(leases.take('one', never), { kind: 'storage', hint: /move that file away/ })
  await rmSync(join(dir.path, 'file'))
  await using _lease = await leases.take('one', never)
})

test('take() fails with storage where nothing can be written', async () => {
  await using home = await openHome(1)
  {
    await using _lease = await home.leases[0]!.take('one', never)
  }
  for (const [path, message] of unwritable(home.path)) {
    await using leases = openLeases(path)
    await assert.rejects(leases.take('one', never), { kind: 'storage', message })
  }
})

test('take() fails with storage and a hint on a full disk, and works once there is room', async () => {
  using disk = mountSmallDisk(64)
  if (!disk) return // processes.test.ts fills a file instead, which needs no privileges
  await using leases = openLeases(disk.path)
  writeFileSync(join(disk.path, 'filler'), Buffer.alloc(64 * 1024))
  await assert.rejects(leases.take('one', never), { kind: 'storage', hint: /free some space/ })
  rmSync(join(disk.path, 'filler'))
  await using _lease = await leases.take('one', never)
})

/** Paths where even root cannot write: /proc always, a read-only mount where this user may create one. */
function* unwritable(home: string): Generator<[string, RegExp]> {
  yield ['/proc/self', /Cannot create/]
  using mount = mountReadOnly(home)
  if (mount) yield [mount.path, /the file system is read-only/]
}

/** Writes a database whose second page, the rows, is garbage. */
function tornDatabase(home: string): Buffer {
  const path = join(home, 'torn.db')
  using db = new DatabaseSync(path)
  db.exec(`CREATE TABLE lease (
    resource TEXT NOT NULL, ticket INTEGER NOT NULL, owner TEXT NOT NULL, pid INTEGER,
    started_at TEXT NOT NULL, PRIMARY KEY (resource, ticket)) WITHOUT ROWID`)
  return Buffer.from(db.serialize()).fill(0xee, 4096)
}

function insertRow(home: string, resource: string, owner: string): void {
  using db = new DatabaseSync(databasePath(home))
  const insert = db.prepare(
    'INSERT INTO lease SELECT ?1, coalesce(max(ticket), 0) + 1, ?2, 1, ?3 FROM lease WHERE resource = ?1',
  )
  insert.run(resource, owner, new Date().toISOString())
}

function watch(taking: Promise<Lease>): { taking: Promise<Lease>; lease?: Lease } {
  const watched: { taking: Promise<Lease>; lease?: Lease } = { taking }
  taking.then(
    (lease) => {
      watched.lease = lease
    },
    () => undefined, // the caller that awaits `taking` sees the error
  )
  return watched
}

async function openHome(count: number) {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const leases = Array.from({ length: count }, () => openLeases(dir.path))
  return {
    path: dir.path,
    leases,
    async [Symbol.asyncDispose]() {
      for (const each of leases) await each[Symbol.asyncDispose]()
      await dir.remove()
    },
  }
}

function openLeases(home: string, options: Partial<SqliteLeasesOptions> = {}): SqliteLeases {
  return new SqliteLeases({
    database: databasePath(home),
    proc: procPath(home),
    pid: process.pid,
    ...options,
  })
}

function databasePath(home: string): string {
  return join(home, 'run', 'leases.db')
}

function procPath(home: string): string {
  return join(home, 'run', 'proc')
}
