import assert from 'node:assert/strict'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { watchFolder } from '../../../src/core/base/watch-folder.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

test('watchFolder() reports the initial state, and when a matching file is created, changed, renamed or removed', async () => {
  await using home = await temporaryHome()
  await home.write('run/other', '')
  const { run } = home.paths
  const file = join(run, 'a.port')
  let looks = 0
  using _watching = watchFolder({
    folder: run,
    isWatched: (name) => name.endsWith('.port'),
    look: () => looks++,
  })
  assert.equal(looks, 1)
  const changes = [
    () => writeFile(file, '1'),
    () => writeFile(file, '2'),
    () => rename(file, join(run, 'b.port')),
    () => rm(join(run, 'b.port')),
  ]
  for (const change of changes) {
    const before = looks
    await change()
    await until('it looks', () => looks > before)
  }
})

test('watchFolder() finds a folder that is created later or replaced, by polling', async () => {
  await using home = await temporaryHome()
  const { run } = home.paths
  const seen: string[] = []
  let changes = 0
  const options = { folder: run, isWatched: (name: string) => name.endsWith('.port'), lookMs: 20 }
  using _watching = watchFolder({ ...options, look: () => changes++ })
  for (const round of ['one', 'two']) {
    await mkdir(run, { recursive: true })
    const before = changes
    await until('it has looked', () => changes > before + 1)
    await writeFile(join(run, `${round}.port`), '1')
    await until('it looks', () => changes > before + 2)
    seen.push(round)
    await rm(run, { recursive: true })
  }
  assert.deepEqual(seen, ['one', 'two'])
})
