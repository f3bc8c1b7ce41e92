import assert from 'node:assert/strict'
import { mkdir, symlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { walkFolders } from '../../../src/core/skills/walk-folders.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

test('walkFolders() descends into folders without a result, level by level, and skips hidden ones', async () => {
  await using home = await temporaryHome()
  const root = join(home.paths.home, 'skills')
  await make(root, 'b', 'a/c/d', 'a/.git/x', 'node_modules/x', '.hidden/x', 'a/node_modules/y', 'taken/inner')
  await home.write('skills/file', 'no folder')
  const { shown, found, isCut } = await walk(root)
  assert.deepEqual(shown, ['a', 'b', 'taken', 'a/c', 'a/c/d'])
  assert.deepEqual([found, isCut], [['taken'], false])
})

test('walkFolders() stops at link cycles, below five levels, and at its maximum of folders', async () => {
  await using home = await temporaryHome()
  const root = join(home.paths.home, 'skills')
  await make(root, 'a/b')
  await symlink(root, join(root, 'a', 'b', 'top'))
  await symlink(join(root, 'a'), join(root, 'a', 'b', 'up'))
  await symlink(join(root, 'nowhere'), join(root, 'a', 'broken'))
  assert.deepEqual((await walk(root)).shown, ['a', 'a/b', 'a/broken', 'a/b/top', 'a/b/up'])
  await symlink(root, join(home.paths.home, 'link'))
  assert.deepEqual((await walk(join(home.paths.home, 'link'))).shown, [
    'a',
    'a/b',
    'a/broken',
    'a/b/top',
    'a/b/up',
  ])
  await make(root, 'a/b/c/d/e/f/g')
  assert.equal((await walk(root)).shown.filter((path) => /[efg]$/.test(path)).join(), 'a/b/c/d/e')
  const first = await walk(root, 3)
  assert.deepEqual([first.shown, first.isCut], [['a', 'a/b', 'a/broken'], true])
})

test('walkFolders() follows an outside link once', async () => {
  await using home = await temporaryHome()
  const root = join(home.paths.home, 'skills')
  await make(home.paths.home, 'elsewhere/x')
  await mkdir(root)
  for (const name of ['one', 'two']) await symlink(join(home.paths.home, 'elsewhere'), join(root, name))
  assert.deepEqual((await walk(root)).shown, ['one', 'two', 'one/x'])
})

test('walkFolders() treats a false folder as empty, and fails for such a root', async () => {
  await using home = await temporaryHome()
  await home.write('file', 'no folder')
  await mkdir(join(home.paths.home, 'skills'))
  await symlink(join(home.paths.home, 'file'), join(home.paths.home, 'skills', 'linked'))
  assert.deepEqual((await walk(join(home.paths.home, 'skills'))).shown, ['linked'])
  await assert.rejects(walk(join(home.paths.home, 'file')), { code: 'ENOTDIR' })
  await assert.rejects(walk(join(home.paths.home, 'none')), { code: 'ENOENT' })
})

async function make(root: string, ...folders: string[]): Promise<void> {
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true })
}

/** Returns a result for a folder that is called `taken`. */
async function walk(root: string, most = 100) {
  const shown: string[] = []
  const read = async (folder: string) => {
    const path = relative(root, folder).replaceAll('\\', '/')
    shown.push(path)
    return path.endsWith('taken') ? path : undefined
  }
  return { ...(await walkFolders(root, read, most)), shown }
}
