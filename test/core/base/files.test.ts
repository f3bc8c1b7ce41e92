import assert from 'node:assert/strict'
import {
  chmod,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import {
  createFile,
  isMissingFile,
  makePrivateDir,
  replaceFile,
  toStorageError,
} from '../../../src/core/base/files.ts'
import { mountReadOnly, mountSmallDisk } from '../../support/small-disk.ts'

const PREFIX = join(tmpdir(), 'crab-')

test('replaceFile() creates file and folders for their owner only', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const path = join(dir.path, 'a', 'b', 'c.toml')
  await replaceFile(path, 'text')
  assert.equal(await readFile(path, 'utf8'), 'text')
  assert.equal(await readMode(path), 0o600)
  assert.equal(await readMode(join(dir.path, 'a', 'b')), 0o700)
  assert.deepEqual(await readdir(join(dir.path, 'a', 'b')), ['c.toml'])
})

test('replaceFile() replaces an existing file and its mode, and accepts bytes', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const path = join(dir.path, 'file')
  await writeFile(path, 'a longer old text')
  await chmod(path, 0o644)
  await replaceFile(path, new Uint8Array([0, 255]))
  assert.deepEqual(await readFile(path), Buffer.from([0, 255]))
  assert.equal(await readMode(path), 0o600)
})

test('replaceFile() shows readers the old or the new content, never a mixture', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const path = join(dir.path, 'file')
  const contents = ['a', 'b'].map((letter) => letter.repeat(200_000))
  await replaceFile(path, contents[0]!)
  let isOver = false
  const writing = (async () => {
    for (let round = 0; round < 30; round++) await replaceFile(path, contents[round % 2]!)
    isOver = true
  })()
  while (!isOver) assert.ok(contents.includes(await readFile(path, 'utf8')))
  await writing
})

test('replaceFile() fails with `storage` and leaves nothing behind when a folder is in the way', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await mkdir(join(dir.path, 'taken', 'x'), { recursive: true })
  await assert.rejects(replaceFile(join(dir.path, 'taken'), 'text'), { name: 'CrabError', kind: 'storage' })
  assert.deepEqual(await readdir(dir.path), ['taken'])
})

test('replaceFile() keeps the old file when the disk is full, and says so', async (context) => {
  using disk = mountSmallDisk(64)
  if (!disk) return context.diagnostic('no right to mount: nothing was tested')
  const path = join(disk.path, 'file')
  await replaceFile(path, 'old')
  await assert.rejects(replaceFile(path, 'x'.repeat(200_000)), {
    kind: 'storage',
    message: `Cannot write ${path}: the disk is full`,
    hint: 'free some space, or set CRABTALK_HOME to another directory',
  })
  assert.equal(await readFile(path, 'utf8'), 'old')
  assert.deepEqual(await readdir(disk.path), ['file'])
})

test('replaceFile() reports a read-only file system', async (context) => {
  await using dir = await mkdtempDisposable(PREFIX)
  using mount = mountReadOnly(dir.path)
  if (!mount) return context.diagnostic('no right to mount: nothing was tested')
  await assert.rejects(replaceFile(join(mount.path, 'file'), 'x'), {
    kind: 'storage',
    message: /: the file system is read-only$/,
  })
})

test('createFile() creates a whole file once, also for concurrent callers', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const path = join(dir.path, 'sub', 'file')
  const made = await Promise.all(Array.from({ length: 8 }, (_, index) => createFile(path, `by ${index}`)))
  assert.equal(made.filter(Boolean).length, 1)
  assert.equal(await readFile(path, 'utf8'), `by ${made.indexOf(true)}`)
  assert.deepEqual(await readdir(join(dir.path, 'sub')), ['file'])
  assert.equal(await readMode(path), 0o600)
})

test('makePrivateDir() reports which part of a path is a file', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await writeFile(join(dir.path, 'file'), '')
  await assert.rejects(makePrivateDir(join(dir.path, 'file', 'below')), {
    kind: 'storage',
    hint: /^move that file away/,
  })
})

test('makePrivateDir() says so when the folder above refuses', {
  skip: process.platform !== 'linux',
}, async () => {
  await assert.rejects(makePrivateDir('/proc/x/agents'), {
    kind: 'storage',
    message: 'Cannot create /proc/x: the directory above it does not exist or is read-only',
    hint: 'set CRABTALK_HOME to another directory',
  })
})

test('makePrivateDir() accepts a link to a folder', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await mkdir(join(dir.path, 'real'))
  await symlink(join(dir.path, 'real'), join(dir.path, 'link'))
  await makePrivateDir(join(dir.path, 'link', 'below'))
  assert.deepEqual(await readdir(join(dir.path, 'real')), ['below'])
})

test('toStorageError() passes a CrabError through and keeps the message of unknown errors', () => {
  const known = new CrabError('missing', 'x')
  assert.equal(toStorageError('Cannot do it', known), known)
  const other = toStorageError('Cannot do it', new Error('EBADF: bad file descriptor'))
  assert.deepEqual(
    [other.kind, other.message, other.hint],
    ['storage', 'Cannot do it: EBADF: bad file descriptor', undefined],
  )
  assert.equal(toStorageError('Cannot do it', 'odd').message, 'Cannot do it: odd')
})

test('isMissingFile() distinguishes a missing file from every other error', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  assert.equal(isMissingFile(await catchFailure(readFile(join(dir.path, 'none')))), true)
  assert.equal(isMissingFile(await catchFailure(readFile(dir.path))), false)
  assert.equal(isMissingFile(undefined), false)
})

async function readMode(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777
}

async function catchFailure(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
}
