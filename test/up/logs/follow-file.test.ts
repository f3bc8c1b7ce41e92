import assert from 'node:assert/strict'
import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { appendFile, mkdtempDisposable, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { FileFollower } from '../../../src/up/logs/follow-file.ts'
import { readLastLogLines } from '../../../src/up/logs/tail.ts'

test('FileFollower returns what was written while it read and the file was rotated', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  for (let steps = 0; steps < 40; steps += 1) {
    const path = join(dir.path, `${steps}.log`)
    await writeFile(path, 'first\n')
    await using follower = new FileFollower(path, undefined)
    const found = await follower.next()
    const looking = follower.next()
    for (let n = 0; n < steps; n += 1) await setImmediate()
    appendFileSync(path, 'last\n')
    renameSync(path, `${path}.1`)
    writeFileSync(path, 'next\n')
    found.push(...(await looking), ...(await follower.next()))
    assert.deepEqual(found, ['first', 'last', 'next'], `after ${steps} steps`)
  }
})

test('FileFollower continues in a file that was rotated since the last read, to its end without a line break', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const path = join(dir.path, 'a.log')
  await writeFile(path, 'read\n')
  const { to } = (await readLastLogLines(path, 1))!
  await appendFile(path, 'last\nand killed')
  await rename(path, `${path}.1`)
  await writeFile(path, 'next\n')
  await using follower = new FileFollower(path, to)
  assert.deepEqual(await follower.next(), ['last', 'and killed', 'next'])
})

test('FileFollower starts again when both the file and the rotated file were replaced', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const path = join(dir.path, 'a.log')
  await writeFile(path, 'read\n')
  const { to } = (await readLastLogLines(path, 1))!
  await rename(path, `${path}.2`)
  await writeFile(`${path}.1`, 'other\n')
  await writeFile(path, 'next\n')
  await using follower = new FileFollower(path, to)
  assert.deepEqual(await follower.next(), ['next'])
})
