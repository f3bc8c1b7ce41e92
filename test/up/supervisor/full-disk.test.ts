import assert from 'node:assert/strict'
import { appendFileSync, statSync, truncateSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { newStartRequest, setDesired } from '../../../src/up/supervisor/desired-state.ts'
import { ensureSupervisor } from '../../../src/up/supervisor/ensure.ts'
import { findSupervisor } from '../../../src/up/supervisor/record.ts'
import { readStatuses, startSupervised, stopSupervised } from '../../../src/up/supervisor/verbs.ts'
import { kill } from '../../support/processes.ts'
import { makeServiceHome } from '../../support/services.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { until } from '../../support/until.ts'

test('supervise() keeps a service running on a full disk, and stops it there on request', async (t) => {
  using disk = mountSmallDisk(256)
  if (!disk) return t.diagnostic('this user may not mount a disk to fill')
  await using at = await makeServiceHome(disk.path)
  const { signal } = new AbortController()
  await setDesired(at.folder, at.spec('one', 'echo up; exec sleep 1000'), newStartRequest('start'))
  const done = at.supervise(signal)
  const { pid } = await at.recorded('one', ({ state }) => state === 'running')
  fill(disk.path)
  kill(pid!)
  await until('it runs again', async () => (await at.left()).some((one) => one !== pid))
  const other = { ...at.spec('two', 'exec sleep 1000'), description: 'x'.repeat(300_000) }
  await assert.rejects(setDesired(at.folder, other, newStartRequest('start')), {
    kind: 'storage',
    message: /disk is full/,
  })
  const served = { folder: at.folder, ensure: async () => undefined }
  const page = 4096 // room for the request, but not for the resulting record
  truncateSync(join(disk.path, 'full'), statSync(join(disk.path, 'full')).size - page)
  await assert.rejects(startSupervised(served, at.spec('three', 'exec sleep 1000'), signal), {
    kind: 'storage',
    message: /^Cannot tell whether three has started: the disk is full$/,
  })
  const [unheard] = await readStatuses(served, ['ai.crabtalk.three.test'])
  assert.equal(unheard?.state, 'starting')
  await rm(join(disk.path, 'full'))
  await setDesired(at.folder, at.spec('four', 'exec sleep 1000'), newStartRequest('start')) // so that it checks now
  await at.recorded('three', ({ state }) => state === 'running')
  for (const name of ['one', 'three', 'four']) await stopSupervised(served, name, signal)
  assert.equal(await done, true)
  assert.deepEqual(await at.left(), [])
})

test('ensureSupervisor() reports a full disk, and the supervisor announces itself once there is room', async (t) => {
  using disk = mountSmallDisk(256)
  if (!disk) return t.diagnostic('this user may not mount a disk to fill')
  await using at = await makeServiceHome(disk.path)
  const { signal } = new AbortController()
  await setDesired(at.folder, at.spec('one', 'exec sleep 1000'), newStartRequest('start'))
  fill(disk.path)
  const done = at.supervise(signal)
  await until('it runs', async () => (await at.left()).length > 0)
  const command = ['/bin/true'] as const // as a supervisor that finds the home taken
  await assert.rejects(ensureSupervisor({ folder: at.folder, command, env: {}, cwd: '/' }, signal), {
    kind: 'storage',
    message: /^Cannot start the service supervisor: the disk is full$/,
  })
  await rm(join(disk.path, 'full'))
  await setDesired(at.folder, at.spec('one', 'exec sleep 1000'), newStartRequest('start'))
  await until('it is found', async () => (await findSupervisor(at.folder)) !== undefined)
  await stopSupervised({ folder: at.folder, ensure: async () => undefined }, 'one', signal)
  assert.equal(await done, true)
})

function fill(folder: string): void {
  for (const bytes of [4096, 1]) {
    try {
      for (;;) appendFileSync(join(folder, 'full'), 'x'.repeat(bytes))
    } catch {
      // it is full to that size
    }
  }
}
