import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readStaleStamp, removeStale } from '../../../src/up/probe/stale-files.ts'

test('removeStale() removes the file that readStaleStamp() has seen, and nothing else', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const file = join(dir.path, 'clock.port')
  await writeOld(file, '4711\n')
  const stamp = (await readStaleStamp(file, Date.now()))!
  for (const name of ['clock.key', 'other.key']) await writeFile(join(dir.path, name), 'k')
  assert.equal(await removeStale(file, stamp), true)
  assert.deepEqual(await readdir(dir.path), ['other.key'])
  assert.equal(await removeStale(file, stamp), false)
})

test('removeStale() keeps a file that was written again, with any contents', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const file = join(dir.path, 'clock.port')
  await writeOld(file, '4711\n')
  const stamp = (await readStaleStamp(file, Date.now()))!
  await writeFile(file, '4711\n')
  assert.equal(await removeStale(file, stamp), false)
  assert.equal(await readFile(file, 'utf8'), '4711\n')
  assert.deepEqual(await readdir(dir.path), ['clock.port'])
})

test('readStaleStamp() returns nothing for a new or missing file', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const file = join(dir.path, 'clock.port')
  assert.equal(await readStaleStamp(file, Date.now()), undefined)
  await writeFile(file, '4711\n')
  assert.equal(await readStaleStamp(file, Date.now()), undefined)
  assert.notEqual(await readStaleStamp(file, Date.now() + 60_000), undefined)
})

async function writeOld(file: string, text: string): Promise<void> {
  await writeFile(file, text)
  const then = Date.now() / 1000 - 60
  await utimes(file, then, then)
}
