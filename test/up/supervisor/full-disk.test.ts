import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { stopWanted } from '../../../src/up/supervisor/verbs.ts'
import { ask, wantService } from '../../../src/up/supervisor/wanted.ts'
import { kill } from '../../support/processes.ts'
import { makeServiceHome } from '../../support/services.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { until } from '../../support/until.ts'

test('supervise() keeps a service running on a full disk, and ends it when it is stopped there', async () => {
  using disk = mountSmallDisk(256)
  assert.ok(disk, 'nothing can be mounted here')
  await using at = await makeServiceHome(disk.path)
  const { signal } = new AbortController()
  await wantService(at.folder, at.spec('one', 'echo up; exec sleep 1000'), ask('start'))
  const done = at.supervise(signal)
  const { pid } = await at.recorded('one', ({ state }) => state === 'running')
  fill(disk.path)
  kill(pid!)
  await until('it runs again', async () => (await at.left()).some((one) => one !== pid))
  const other = { ...at.spec('two', 'exec sleep 1000'), description: 'x'.repeat(300_000) }
  await assert.rejects(wantService(at.folder, other, ask('start')), {
    kind: 'storage',
    message: /disk is full/,
  })
  await stopWanted({ folder: at.folder, ensure: async () => undefined }, 'one', signal)
  assert.equal(await done, true)
  assert.deepEqual(await at.left(), [])
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
