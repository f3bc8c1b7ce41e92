import assert from 'node:assert/strict'
import { mkdtempDisposable, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isSameToken, readOrCreateToken, readToken } from '../../../src/core/transport/token.ts'

test('readOrCreateToken() makes 256 bits once, mode 0600, however many ask at once', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-token-'))
  const run = join(directory.path, 'run')
  const tokens = await Promise.all(Array.from({ length: 8 }, () => readOrCreateToken(run)))
  assert.match(tokens[0]!, /^[0-9a-f]{64}$/)
  assert.equal(new Set(tokens).size, 1)
  assert.equal(await readToken(run), tokens[0])
  assert.equal(await readOrCreateToken(run), tokens[0])
  assert.equal((await stat(join(run, 'tcp.token'))).mode & 0o777, 0o600)
})

test('readToken() reports a missing file, and one that holds no token', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'crab-token-'))
  await assert.rejects(readToken(directory.path), { kind: 'missing', message: /tcp\.token/ })
  for (const content of ['', '\n', 'short', `${'x'.repeat(40)} ${'y'.repeat(40)}`, 'x'.repeat(513)]) {
    await writeFile(join(directory.path, 'tcp.token'), content)
    await assert.rejects(readToken(directory.path), { kind: 'config' })
    await assert.rejects(readOrCreateToken(directory.path), { kind: 'config' })
  }
})

test('isSameToken() is true for equal tokens only', () => {
  assert.ok(isSameToken('abc', 'abc'))
  for (const other of ['', 'ab', 'abd', 'abcd', 'ABC']) assert.ok(!isSameToken('abc', other))
})
