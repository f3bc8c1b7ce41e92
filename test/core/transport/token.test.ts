import assert from 'node:assert/strict'
import { chmod, mkdtempDisposable, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isSameToken, readOrCreateToken, readToken } from '../../../src/core/transport/token.ts'

test('readOrCreateToken() creates 256 bits once, mode 0600, also for concurrent callers', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-token-'))
  const run = join(directory.path, 'run')
  const made = await Promise.all(Array.from({ length: 8 }, () => readOrCreateToken(run)))
  assert.ok(made.every(({ replaced }) => replaced === undefined))
  const tokens = made.map(({ token }) => token)
  assert.match(tokens[0]!, /^[0-9a-f]{64}$/)
  assert.equal(new Set(tokens).size, 1)
  assert.equal(await readToken(run), tokens[0])
  assert.deepEqual(await readOrCreateToken(run), { token: tokens[0] })
  assert.equal((await stat(join(run, 'tcp.token'))).mode & 0o777, 0o600)
})

test('readToken() reports a missing file, and one without a token', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-token-'))
  await assert.rejects(readToken(directory.path), { kind: 'missing', message: /tcp\.token/ })
  for (const content of UNSAFE) {
    await writeFile(join(directory.path, 'tcp.token'), content, { mode: 0o600 })
    await assert.rejects(readToken(directory.path), {
      kind: 'config',
      message: /tcp\.token: it (is|does) not /,
    })
  }
})

/** Invalid tokens, and guessable ones. */
const UNSAFE = [
  '',
  '\n',
  'short',
  `${'x'.repeat(40)} ${'y'.repeat(40)}`,
  'x'.repeat(513),
  'a'.repeat(40),
  'ab'.repeat(20),
  `${'0123456789abcdef'.repeat(3)}\n`,
]

test('readOrCreateToken() replaces a token that is guessable, or that others may have read', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-token-'))
  const path = join(directory.path, 'tcp.token')
  for (const content of UNSAFE) {
    await writeFile(path, content, { mode: 0o600 })
    const { token, replaced } = await readOrCreateToken(directory.path)
    assert.match(replaced ?? '', /^it (is|does) not /)
    assert.equal(await readFile(path, 'utf8'), `${token}\n`)
  }
  const { token: before } = await readOrCreateToken(directory.path)
  for (const mode of [0o644, 0o640, 0o604, 0o666]) {
    await chmod(path, mode)
    await assert.rejects(readToken(directory.path), {
      kind: 'config',
      message: /mode 6\d\d lets other users/,
    })
    const { token, replaced } = await readOrCreateToken(directory.path)
    assert.match(replaced ?? '', /^its mode 6\d\d lets other users read it$/)
    assert.notEqual(token, before)
    assert.equal((await stat(path)).mode & 0o777, 0o600)
  }
  const elsewhere = join(directory.path, 'elsewhere')
  await writeFile(elsewhere, before, { mode: 0o600 })
  await rm(path)
  await symlink(elsewhere, path)
  assert.match((await readOrCreateToken(directory.path)).replaced ?? '', /not a regular file/)
  assert.equal(await readFile(elsewhere, 'utf8'), before)
})

test('readOrCreateToken() keeps a random token that a user chose', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-token-'))
  for (const token of ['Zk3vXq9LrT0pWm5sYc8bNd2fGh6jKaQe', '9f86d081884c7d659a2feaa0c55ad015']) {
    await writeFile(join(directory.path, 'tcp.token'), token, { mode: 0o600 })
    assert.deepEqual(await readOrCreateToken(directory.path), { token })
  }
})

test('isSameToken() is true for equal tokens only', () => {
  assert.ok(isSameToken('abc', 'abc'))
  for (const other of ['', 'ab', 'abd', 'abcd', 'ABC']) assert.ok(!isSameToken('abc', other))
})
