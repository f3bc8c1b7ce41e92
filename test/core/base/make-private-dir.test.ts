import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makePrivateDir, makePrivateDirSync } from '../../../src/core/base/files.ts'

test('makePrivateDir() creates missing parents for their owner only, and does not change existing ones', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await makePrivateDir(join(dir.path, 'a', 'b'))
  makePrivateDirSync(join(dir.path, 'a', 'b'))
  assert.equal(statSync(join(dir.path, 'a')).mode & 0o777, 0o700)
  assert.equal(statSync(join(dir.path, 'a', 'b')).mode & 0o777, 0o700)
})

test('makePrivateDir() reports a file in the way', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const file = join(dir.path, 'file')
  await writeFile(file, '')
  for (const path of [file, join(file, 'below')]) {
    await assert.rejects(makePrivateDir(path), { kind: 'storage', hint: /move that file away/ })
  }
})

test('makePrivateDir() fails without hanging where an existing folder accepts no entries', async () => {
  await assert.rejects(makePrivateDir('/proc/self/no/such'), { kind: 'storage' })
})
