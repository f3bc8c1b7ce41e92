import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  findManualRun,
  readManualRuns,
  recordManualRun,
  toManualRun,
} from '../../../src/core/cron/manual-runs.ts'
import { MemoryLeases } from '../../../src/core/lease/memory-leases.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const LAST = { due: 1, ended: 2, outcome: 'ok' } as const

test('recordManualRun() keeps the latest run of each entry, also under concurrency, up to a limit', async () => {
  await using home = await temporaryHome()
  const path = join(home.paths.run, 'cron-by-hand.json')
  assert.deepEqual(await readManualRuns(path), [])
  const leases = new MemoryLeases()
  const lock = (name: string, signal: AbortSignal) => leases.take(name, signal)
  const note = (id: number, ended: number) => {
    const run = { id, content: 'x', agent: 'crab', last: { ...LAST, ended } }
    return recordManualRun({ path, lock }, run, AbortSignal.timeout(5000))
  }
  await Promise.all([1, 2, 3].map((id) => note(id, 2)))
  await note(2, 3)
  const ids = async () => (await readManualRuns(path)).map(({ id, last }) => [id, last.ended])
  assert.deepEqual(await ids(), [
    [2, 3],
    [3, 2],
    [1, 2],
  ])
  for (let id = 10; id < 110; id++) await note(id, 4)
  assert.equal((await ids()).length, 100)
  assert.deepEqual((await ids()).at(-1), [10, 4])
  await home.write('run/cron-by-hand.json', '{"v":2}')
  assert.deepEqual(await readManualRuns(path), [])
})

test('findManualRun() returns nothing for an earlier entry with the same id', () => {
  const entry = { id: 1, schedule: '@daily', content: 'x', agent: 'crab', sender: 'cron', once: false }
  const runs = [toManualRun(entry, LAST)]
  assert.equal(findManualRun(runs, { ...entry, schedule: '@hourly' }), LAST)
  const { content: _, ...rest } = entry
  for (const other of [
    { ...entry, content: 'y' },
    { ...rest, skill: 'x' },
    { ...entry, agent: 'scout' },
  ]) {
    assert.equal(findManualRun(runs, other), undefined)
  }
})
