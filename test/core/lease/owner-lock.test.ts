import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { ulid } from 'ulid'
import { isOwnerAlive, OwnerLock, ownersIn, tryLock } from '../../../src/core/lease/owner-lock.ts'

const module = pathToFileURL(join(import.meta.dirname, '../../../src/core/lease/owner-lock.ts'))
const SWEEP_FOR_EVER = `
  import { isOwnerAlive, ownersIn } from '${module}'
  console.log('ready')
  for (;;) for (const id of ownersIn(process.argv[1])) isOwnerAlive(process.argv[1], id)`

test('OwnerLock proves the owner alive until it is disposed', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  {
    using owner = new OwnerLock(dir.path)
    assert.deepEqual(readdirSync(dir.path), [owner.id])
    assert.equal(isOwnerAlive(dir.path, owner.id), true)
    assert.equal(owner.isValid, true)
  }
  assert.deepEqual(readdirSync(dir.path), [])
})

test('OwnerLock notices that its file was removed', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  using owner = new OwnerLock(dir.path)
  rmSync(join(dir.path, owner.id))
  assert.equal(owner.isValid, false)
})

test('isOwnerAlive() removes the file of a dead owner, and creates none for a missing one', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const [dead, gone] = [ulid(), ulid()]
  writeFileSync(join(dir.path, dead), '')
  assert.equal(isOwnerAlive(dir.path, dead), false)
  assert.equal(isOwnerAlive(dir.path, gone), false)
  assert.deepEqual(readdirSync(dir.path), [])
})

test('ownersIn() skips other files', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  using owner = new OwnerLock(dir.path)
  writeFileSync(join(dir.path, 'repair'), '')
  assert.deepEqual(ownersIn(dir.path), [owner.id])
})

test('tryLock() grants a lock to one at a time', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  {
    using lock = tryLock(join(dir.path, 'one'))
    assert.ok(lock)
    assert.equal(tryLock(join(dir.path, 'one')), undefined)
  }
  using lock = tryLock(join(dir.path, 'one'))
  assert.ok(lock)
})

test('OwnerLock never loses its file while another process removes dead owners', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const sweeper = spawn(process.execPath, ['--input-type=module', '-e', SWEEP_FOR_EVER, dir.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const owners: OwnerLock[] = []
  try {
    await once(sweeper.stdout, 'data')
    for (let count = 0; count < 300; count += 1) {
      using passing = new OwnerLock(dir.path)
      assert.equal(passing.isValid, true)
      if (count % 10 === 0) owners.push(new OwnerLock(dir.path))
    }
    assert.deepEqual(
      owners.filter((owner) => !owner.isValid),
      [],
    )
  } finally {
    sweeper.kill('SIGKILL')
    await once(sweeper, 'exit')
    for (const owner of owners) owner[Symbol.dispose]()
  }
})
