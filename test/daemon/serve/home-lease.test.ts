import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'
import { DAEMON_LEASE, takeHome } from '../../../src/daemon/serve/home-lease.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

test('takeHome() fails when the lease table of a home stays locked', async () => {
  await using home = await temporaryHome()
  const { leases: database, proc, run } = home.paths
  await mkdir(run, { recursive: true })
  await using leases = new SqliteLeases({ database, proc, pid: 1 })
  await (await leases.take('other', AbortSignal.timeout(5000)))[Symbol.asyncDispose]()
  const locking = new DatabaseSync(database)
  locking.exec('BEGIN IMMEDIATE')
  await assert.rejects(takeHome(leases, { pid: 1, home: home.paths.home, waitMs: 50 }), {
    kind: 'unavailable',
    message: `Cannot start the daemon: the leases of ${home.paths.home} are locked`,
  })
  locking.exec('ROLLBACK')
  locking.close()
  await using _lease = await takeHome(leases, { pid: 1, home: home.paths.home })
  assert.equal((await leases.describeHolder(DAEMON_LEASE))?.pid, 1)
})

test('takeHome() is refused when another process takes the home while it waits for the leases', async () => {
  await using home = await temporaryHome()
  const { leases: database, proc, run } = home.paths
  await mkdir(run, { recursive: true })
  await using late = new SqliteLeases({ database, proc, pid: 1 })
  await using early = new SqliteLeases({ database, proc, pid: 2 })
  await (await early.take('other', AbortSignal.timeout(5000)))[Symbol.asyncDispose]()
  const locking = new DatabaseSync(database)
  locking.exec('BEGIN IMMEDIATE')
  const refused = assert.rejects(takeHome(late, { pid: 1, home: home.paths.home }), {
    kind: 'conflict',
    message: /^Cannot start the daemon: process 2 has been the daemon of /,
  })
  locking.exec('ROLLBACK')
  locking.close()
  await using _lease = await early.take(DAEMON_LEASE, AbortSignal.timeout(5000))
  await refused
})
