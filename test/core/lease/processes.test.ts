import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtempDisposable, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'
import { until } from '../../support/until.ts'

const program = join(import.meta.dirname, 'lease-program.ts')
const never = new AbortController().signal

test('a resource is held by only one of 8 processes at a time', async () => {
  await using home = await openHome()
  const racers = Array.from({ length: 8 }, () => home.start())
  for (const racer of racers) racer.send('race one 100')
  for (const racer of racers) assert.equal(await racer.line(), 'raced')
})

test('8 processes get a resource in the order of their requests', async () => {
  await using home = await openHome()
  const first = home.start()
  first.send('take one')
  await first.line()
  const others = []
  for (let order = 2; order <= 8; order += 1) {
    const other = home.start()
    other.send('take one')
    await until(`${order} processes stand in the queue`, () => home.queueLength('one') === order)
    others.push(other)
  }
  let holder = first
  for (const next of others) {
    holder.send('release one')
    assert.equal(await holder.line(), 'released one')
    assert.equal(await next.line(), 'held one')
    holder = next
  }
})

test('leases and waits of a killed process are taken over, and its file is removed', async () => {
  await using home = await openHome()
  const [holder, waiter, heir] = [home.start(), home.start(), home.start()]
  holder.send('take one')
  await holder.line()
  waiter.send('take one')
  await until('the waiter stands in the queue', () => home.queueLength('one') === 2)
  heir.send('take one')
  await until('the heir stands in the queue', () => home.queueLength('one') === 3)
  await waiter.kill()
  await holder.kill()
  assert.equal(await heir.line(), 'held one')
  assert.equal(home.queueLength('one'), 1)
  assert.equal((await readdir(home.proc)).length, 1)
})

test('a starting process removes the files of killed ones', async () => {
  await using home = await openHome()
  for (let count = 0; count < 3; count += 1) {
    const child = home.start()
    child.send(`take ${count}`)
    await child.line()
    await child.kill()
  }
  await using leases = home.open()
  await using _lease = await leases.take('other', never)
  assert.equal(home.queueLength('0'), 0)
  assert.equal((await readdir(home.proc)).length, 1)
})

test('an aborted waiter of another process gives up its place', async () => {
  await using home = await openHome()
  const [holder, waiter, next] = [home.start(), home.start(), home.start()]
  holder.send('take one')
  await holder.line()
  waiter.send('take one')
  await until('the waiter stands in the queue', () => home.queueLength('one') === 2)
  next.send('take one')
  await until('the next one stands in the queue', () => home.queueLength('one') === 3)
  waiter.send('abort one')
  assert.equal(await waiter.line(), 'failed cancelled')
  holder.send('release one')
  assert.equal(await next.line(), 'held one')
})

test('a stopped process keeps its leases', async () => {
  await using home = await openHome()
  const holder = home.start()
  holder.send('take one')
  await holder.line()
  holder.child.kill('SIGSTOP')
  await using leases = home.open()
  let hasTaken = false
  const waiter = leases.take('one', never).then((lease) => {
    hasTaken = true
    return lease
  })
  for (let look = 0; look < 20; look += 1) {
    assert.equal((await leases.describeHolder('one'))?.pid, holder.child.pid)
  }
  assert.equal(hasTaken, false)
  holder.child.kill('SIGCONT')
  holder.send('release one')
  await using _lease = await waiter
})

test('a process that exits normally leaves no row and no file', async () => {
  await using home = await openHome()
  const child = home.start()
  child.send('take one')
  await child.line()
  child.child.stdin!.end()
  const [code] = await once(child.child, 'exit')
  assert.equal(code, 0)
  assert.equal(home.queueLength('one'), 0)
  assert.deepEqual(await readdir(home.proc), [])
})

test('processes that are killed while writing leave a valid database', async () => {
  await using home = await openHome()
  for (let round = 0; round < 4; round += 1) {
    const spinners = [home.start(), home.start(), home.start()]
    for (const spinner of spinners) spinner.send('spin one')
    for (const spinner of spinners) {
      assert.equal(await spinner.line(), 'spinning')
      await spinner.kill()
    }
    await using leases = home.open()
    await using _lease = await leases.take('one', never)
    assert.equal(home.check(), 'ok')
  }
})

test('a process without write access says so, and does not wait', async () => {
  await using home = await openHome()
  const child = home.start('ulimit -f 1')
  child.send('take one')
  assert.equal(await child.line(), 'failed storage')
})

async function openHome() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const run = join(dir.path, 'run')
  const [database, proc] = [join(run, 'leases.db'), join(run, 'proc')]
  await mkdir(run)
  const children: ChildProcess[] = []
  return {
    proc,
    open: () => new SqliteLeases({ database, proc, pid: process.pid }),
    start: (limit = ':') => startChild(run, children, limit),
    check: () => checkIntegrity(database),
    queueLength: (resource: string) => countRows(database, resource),
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map(killChild))
      await dir.remove()
    },
  }
}

/** Starts the program; `limit` is a shell command that restricts it. */
function startChild(run: string, children: ChildProcess[], limit: string) {
  const script = `${limit} && exec "$0" "$@"`
  const command = ['-c', script, process.execPath, program, run]
  const child = spawn('sh', command, { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    send: (line: string) => child.stdin.write(`${line}\n`),
    line: async () => (await lines.next()).value,
    kill: () => killChild(child),
  }
}

async function killChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Counts waiters without waiting for writers; returns undefined while the queue cannot be read. */
function countRows(database: string, resource: string): number | undefined {
  try {
    using db = new DatabaseSync(database, { readOnly: true, timeout: 1000 })
    return Number(
      db.prepare('SELECT count(*) AS count FROM lease WHERE resource = ?').get(resource)!['count'],
    )
  } catch {
    return undefined // not created yet
  }
}

function checkIntegrity(database: string): unknown {
  using db = new DatabaseSync(database, { readOnly: true, timeout: 1000 })
  return db.prepare('PRAGMA integrity_check').get()!['integrity_check']
}
