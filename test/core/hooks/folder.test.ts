import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { type FolderAccess, openFolder } from '../../../src/core/hooks/folder.ts'

const PREFIX = join(tmpdir(), 'crab-')

function makeAccess(fdLinks: string): FolderAccess {
  return { fdLinks, moved: () => new CrabError('conflict', 'it has moved') }
}

async function swapped(dir: string): Promise<void> {
  await rename(join(dir, 'work'), join(dir, 'kept'))
  await symlink('secret', join(dir, 'work'))
}

test('openFolder() stays in the folder it opened, even if the folder is replaced', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  for (const name of ['work', 'secret']) await mkdir(join(dir.path, name))
  await using folder = await openFolder(join(dir.path, 'work'), makeAccess('/proc/self/fd'))
  await swapped(dir.path)
  await folder.verify()
  await writeFile(folder.at('a'), 'text')
  assert.equal(await readFile(join(dir.path, 'kept/a'), 'utf8'), 'text')
  assert.deepEqual(await readdir(join(dir.path, 'secret')), [])
})

test('openFolder() notices a replaced folder on systems without links to open files', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  for (const name of ['work', 'secret', 'other']) await mkdir(join(dir.path, name))
  const path = join(dir.path, 'work')
  await using folder = await openFolder(path, makeAccess('/nowhere'))
  await folder.verify()
  await swapped(dir.path)
  await assert.rejects(folder.verify(), { kind: 'conflict' })
  await rename(path, join(dir.path, 'link'))
  await assert.rejects(folder.verify(), { kind: 'conflict' })
  await rename(join(dir.path, 'other'), path)
  await assert.rejects(folder.verify(), { kind: 'conflict' })
})
