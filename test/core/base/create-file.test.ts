import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFile } from '../../../src/core/base/files.ts'

test('createFile() writes a private file, creates its folders, and leaves nothing else', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const folder = join(directory.path, 'a', 'b')
  assert.equal(await createFile(join(folder, 'file'), 'text'), true)
  assert.deepEqual(await readdir(folder), ['file'])
  assert.equal(await readFile(join(folder, 'file'), 'utf8'), 'text')
  assert.equal((await stat(join(folder, 'file'))).mode & 0o777, 0o600)
  assert.equal((await stat(folder)).mode & 0o777, 0o700)
})

test('createFile() changes nothing when the name is taken', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const path = join(directory.path, 'file')
  await writeFile(path, 'first')
  assert.equal(await createFile(path, 'second'), false)
  assert.deepEqual(await readdir(directory.path), ['file'])
  assert.equal(await readFile(path, 'utf8'), 'first')
})

test('createFile() lets one of several writers win', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const path = join(directory.path, 'file')
  const won = await Promise.all(Array.from({ length: 20 }, (_, i) => createFile(path, String(i))))
  assert.equal(won.filter(Boolean).length, 1)
  assert.equal(await readFile(path, 'utf8'), String(won.indexOf(true)))
})

test('createFile() says why it fails', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await writeFile(join(directory.path, 'file'), '')
  await assert.rejects(createFile(join(directory.path, 'file', 'inner'), ''), { kind: 'storage' })
})

for (const code of ['EPERM', 'ENOTSUP', 'EISDIR']) {
  test(`createFile() works without hard links when a file system refuses them with ${code}`, async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-'))
    const path = join(directory.path, 'file')
    const options = { linkFile: refusing(code) }
    const made = await Promise.all(['one', 'two', 'three'].map((text) => createFile(path, text, options)))
    assert.equal(made.filter(Boolean).length, 1)
    assert.deepEqual(await readdir(directory.path), ['file'])
    assert.equal(await readFile(path, 'utf8'), ['one', 'two', 'three'][made.indexOf(true)])
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.equal(await createFile(path, 'four', options), false)
  })
}

test('createFile() fails when a link is refused for any other reason', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const creating = createFile(join(directory.path, 'file'), 'text', { linkFile: refusing('EMLINK') })
  await assert.rejects(creating, { kind: 'storage' })
  assert.deepEqual(await readdir(directory.path), [])
})

/** Behaves like link(2) on a file system without hard links. */
function refusing(code: string): () => Promise<void> {
  return () => Promise.reject(Object.assign(new Error(code), { code }))
}
