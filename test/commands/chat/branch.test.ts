import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readBranch } from '../../../src/commands/chat/branch.ts'

test('readBranch() returns the branch of the folder, and of folders below it', async () => {
  await using box = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await mkdir(join(box.path, '.git'))
  await mkdir(join(box.path, 'a', 'b'), { recursive: true })
  await writeFile(join(box.path, '.git', 'HEAD'), 'ref: refs/heads/feature/one\n')
  assert.equal(await readBranch(box.path), 'feature/one')
  assert.equal(await readBranch(join(box.path, 'a', 'b')), 'feature/one')
})

test('readBranch() returns the short id of a detached commit', async () => {
  await using box = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await mkdir(join(box.path, '.git'))
  await writeFile(join(box.path, '.git', 'HEAD'), `${'0123456789'.repeat(4)}\n`)
  assert.equal(await readBranch(box.path), '01234567')
})

test('readBranch() follows a worktree to its own HEAD', async () => {
  await using box = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const own = join(box.path, 'main', '.git', 'worktrees', 'side')
  await mkdir(own, { recursive: true })
  await mkdir(join(box.path, 'side'))
  await writeFile(join(own, 'HEAD'), 'ref: refs/heads/side\n')
  await writeFile(join(box.path, 'side', '.git'), `gitdir: ${own}\n`)
  assert.equal(await readBranch(join(box.path, 'side')), 'side')
  await writeFile(join(box.path, 'side', '.git'), 'gitdir: ../main/.git/worktrees/side\n')
  assert.equal(await readBranch(join(box.path, 'side')), 'side')
})

test('readBranch() returns nothing for unknown formats', async () => {
  await using box = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await mkdir(join(box.path, '.git'))
  assert.equal(await readBranch(box.path), undefined)
  for (const head of ['', 'nonsense', 'ref: refs/heads/.invalid', `ref: refs/heads/${'x'.repeat(5_000)}`]) {
    await writeFile(join(box.path, '.git', 'HEAD'), head)
    assert.equal(await readBranch(box.path), undefined)
  }
})
