import assert from 'node:assert/strict'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { discardDamaged, LeaseTable } from '../../../src/core/lease/lease-table.ts'
import { tryLock } from '../../../src/core/lease/owner-lock.ts'

const ours = { owner: 'ours', pid: 1, startedAt: '2026-01-01T00:00:00.000Z' }
const theirs = { ...ours, owner: 'theirs', pid: undefined }

test('LeaseTable queues tickets per resource, and the lowest is the head', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  using table = new LeaseTable(join(dir.path, 'leases.db'))
  assert.deepEqual(table.exchange({ leave: [], enter: ['a', 'b', 'a'] }, ours), [1, 1, 2])
  assert.deepEqual(table.exchange({ leave: [{ resource: 'a', ticket: 1 }], enter: ['a'] }, theirs), [3])
  assert.deepEqual(table.head('a'), { ticket: 1, ...ours }, 'nobody gives up what is not theirs')
  table.removeOwners(['ours'])
  assert.deepEqual(table.head('a'), { ticket: 3, ...theirs })
  assert.equal(table.head('b'), undefined)
  assert.deepEqual(table.owners(), ['theirs'])
})

test('LeaseTable notices that its file was removed', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  using table = new LeaseTable(join(dir.path, 'leases.db'))
  assert.equal(table.isValid, true)
  rmSync(join(dir.path, 'leases.db'))
  assert.equal(table.isValid, false)
  using another = new LeaseTable(join(dir.path, 'leases.db'))
  assert.deepEqual([table.isValid, another.isValid], [false, true])
})

test('discardDamaged() keeps a valid database', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  using table = new LeaseTable(join(dir.path, 'leases.db'))
  discardDamaged(join(dir.path, 'leases.db'), dir.path)
  assert.equal(table.isValid, true)
})

test('discardDamaged() does nothing while another process does it', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const database = join(dir.path, 'leases.db')
  writeFileSync(database, 'no database '.repeat(1000))
  {
    using _other = tryLock(join(dir.path, 'repair'))
    discardDamaged(database, dir.path)
    assert.equal(existsSync(database), true)
  }
  discardDamaged(database, dir.path)
  assert.equal(existsSync(database), false)
})
