import assert from 'node:assert/strict'
import { mkdir, symlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { walkFolders } from '../../../src/core/skills/walk-folders.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

test('walkFolders() goes on inside what nothing was made of, level by level, and skips what is hidden', async () => {
  await using home = await temporaryHome()
  const root = join(home.paths.home, 'skills')
  const folders = ['b', 'a/c/d', 'a/.git/x', 'node_modules/x', '.hidden/x', 'a/node_modules/y', 'taken/inner']
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true })
  await home.write('skills/file', 'no folder')
  const shown: string[] = []
  const walked = await walkFolders(
    root,
    async (folder) => {
      shown.push(relative(root, folder))
      return folder.endsWith('taken') ? 'made' : undefined
    },
    100,
  )
  assert.deepEqual(shown, ['a', 'b', 'taken', join('a', 'c'), join('a', 'c', 'd')])
  assert.deepEqual(walked, { found: ['made'], isCut: false })
})

test('walkFolders() ends where links lead back, below five levels, and after so many folders', async () => {
  await using home = await temporaryHome()
  const root = join(home.paths.home, 'skills')
  await mkdir(join(root, 'a', 'b'), { recursive: true })
  await symlink(root, join(root, 'a', 'b', 'top'))
  await symlink(join(root, 'a'), join(root, 'a', 'b', 'up'))
  await symlink(join(root, 'nowhere'), join(root, 'a', 'broken'))
  const { shown, isCut } = await walk(root)
  assert.deepEqual([shown.length, isCut], [5, false])
  await mkdir(join(root, 'a', 'b', 'c', 'd', 'e', 'f', 'g'), { recursive: true })
  assert.equal((await walk(root)).shown.filter((path) => /[efg]$/.test(path)).join(), 'a/b/c/d/e')
  const first = await walk(root, 3)
  assert.deepEqual([first.shown, first.isCut], [['a', 'a/b', 'a/broken'], true])
})

test('walkFolders() takes what only looks like a folder for an empty one, and fails for such a root', async () => {
  await using home = await temporaryHome()
  await home.write('file', 'no folder')
  await mkdir(join(home.paths.home, 'skills'))
  await symlink(join(home.paths.home, 'file'), join(home.paths.home, 'skills', 'linked'))
  assert.deepEqual(await walk(join(home.paths.home, 'skills')), { shown: ['linked'], isCut: false })
  await assert.rejects(walk(join(home.paths.home, 'file')), { code: 'ENOTDIR' })
  await assert.rejects(walk(join(home.paths.home, 'none')), { code: 'ENOENT' })
})

async function walk(root: string, most = 100): Promise<{ shown: string[]; isCut: boolean }> {
  const shown: string[] = []
  const { isCut } = await walkFolders(
    root,
    async (folder) => {
      shown.push(relative(root, folder).replaceAll('\\', '/'))
      return undefined
    },
    most,
  )
  return { shown, isCut }
}
