import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, realpath, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { installedRipgrep, resolveRipgrep, unpackRipgrep } from '../../bin/ripgrep.ts'
import { openRipgrepAsset, type RipgrepAsset } from '../../bin/ripgrep-asset.ts'
import { makeRipgrepAsset } from '../../scripts/sea/ripgrep.ts'
import { makeTree } from '../support/trees.ts'

const PROGRAM = Buffer.concat([Buffer.from('#!/bin/sh\necho hi\nexit\n'), randomBytes(10_000)])
const SHA256 = createHash('sha256').update(PROGRAM).digest('hex')

test('openRipgrepAsset() reads what makeRipgrepAsset() created', async () => {
  const { sha256, size, program } = makeAsset()
  assert.deepEqual([sha256, size, await program()], [SHA256, PROGRAM.length, PROGRAM])
})

test('unpackRipgrep() writes a program for its owner only, once, in a file named by its hash', async () => {
  await using tree = await makeTree({})
  const path = await unpackRipgrep(makeAsset(), tree.path('cache/bin'))
  assert.equal(path, tree.path(`cache/bin/${SHA256.slice(0, 16)}/rg`))
  assert.equal(execFileSync(path!).toString(), 'hi\n')
  const [file, folder] = [await stat(path!), await stat(tree.path('cache'))]
  assert.deepEqual([file.mode & 0o777, folder.mode & 0o777], [0o700, 0o700])
  const again = await unpackRipgrep(
    { ...makeAsset(), program: () => assert.fail('unpacks again') },
    tree.path('cache/bin'),
  )
  assert.deepEqual([again, (await stat(path!)).ino], [path, file.ino])
})

test('unpackRipgrep() replaces an incomplete file', async () => {
  await using tree = await makeTree({ [`${SHA256.slice(0, 16)}/rg`]: PROGRAM.subarray(0, 5_000) })
  const path = await unpackRipgrep(makeAsset(), tree.root)
  assert.deepEqual(await readFile(path!), PROGRAM)
})

test('unpackRipgrep() can be called concurrently, and leaves one file', async () => {
  await using tree = await makeTree({})
  const paths = await Promise.all(Array.from({ length: 8 }, () => unpackRipgrep(makeAsset(), tree.root)))
  assert.equal(new Set(paths).size, 1)
  assert.deepEqual(await readFile(paths[0]!), PROGRAM)
  assert.deepEqual(await readdir(join(paths[0]!, '..')), ['rg'])
})

test('unpackRipgrep() returns nothing when it cannot write, or not unpack', async () => {
  await using tree = await makeTree({ cache: 'a file' })
  assert.equal(await unpackRipgrep(makeAsset(), tree.path('cache')), undefined)
  const damaged = Buffer.from(makeRipgrepAsset(PROGRAM))
  damaged.fill(0, 40)
  assert.equal(await unpackRipgrep(openAsset(damaged), tree.path('other')), undefined)
})

test('installedRipgrep() finds the package beside a script, also through a link to it', async () => {
  await using tree = await makeTree({ 'elsewhere.ts': '' })
  const found = installedRipgrep(import.meta.filename)
  assert.match(execFileSync(found!, ['--version']).toString(), /^ripgrep \d/)
  await symlink(import.meta.filename, tree.path('link.ts'))
  assert.equal(installedRipgrep(tree.path('link.ts')), found)
  assert.equal(installedRipgrep(tree.path('elsewhere.ts')), undefined)
  assert.equal(installedRipgrep(''), undefined)
})

test('resolveRipgrep() returns the installed program from source, and does not touch the folder', async () => {
  await using tree = await makeTree({})
  assert.equal(await resolveRipgrep(tree.path('cache')), installedRipgrep(await realpath(process.argv[1]!)))
  assert.deepEqual(await readdir(tree.root), [])
})

function makeAsset(): RipgrepAsset {
  return openAsset(makeRipgrepAsset(PROGRAM))
}

function openAsset(bytes: Buffer): RipgrepAsset {
  const copy = new ArrayBuffer(bytes.length)
  Buffer.from(copy).set(bytes)
  return openRipgrepAsset(copy)
}
