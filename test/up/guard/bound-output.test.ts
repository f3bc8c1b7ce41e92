import assert from 'node:assert/strict'
import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { boundOutputs } from '../../../src/up/guard/bound-output.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { makeTree } from '../../support/trees.ts'

test('boundOutputs() truncates a file that is too large to its end, and its writer continues', async () => {
  await using tree = await makeTree({ 'small.crash.log': 'x\n', 'one.log': 'x'.repeat(500) })
  const path = tree.path('one.crash.log')
  const fd = openSync(path, 'a', 0o600)
  const lines = Array.from({ length: 100 }, (_, at) => `line ${at}\n`)
  writeSync(fd, lines.join(''))
  assert.equal(boundOutputs(tree.path('.'), 1000), false)
  assert.equal(boundOutputs(tree.path('.'), 200), true)
  writeSync(fd, 'and on\n')
  closeSync(fd)
  assert.equal(readFileSync(path, 'utf8'), 'and on\n')
  assert.equal(readFileSync(`${path}.1`, 'utf8'), lines.slice(-12).join(''))
  assert.equal(statSync(`${path}.1`).mode & 0o777, 0o600)
  assert.equal(readFileSync(tree.path('one.log'), 'utf8').length, 500)
  assert.equal(boundOutputs(tree.path('nowhere')), false)
})

test('boundOutputs() makes room on a full disk', (t) => {
  using disk = mountSmallDisk(256)
  if (!disk) return t.diagnostic('this user may not mount anything')
  const path = join(disk.path, 'one.crash.log')
  assert.throws(() => writeFileSync(path, 'x\n'.repeat(500_000)), { code: 'ENOSPC' })
  assert.equal(boundOutputs(disk.path, 1000), true)
  assert.equal(statSync(path).size, 0)
  if (existsSync(`${path}.1`)) assert.ok(statSync(`${path}.1`).size <= 500)
})
