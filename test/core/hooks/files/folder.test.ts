import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder, openFolder } from '../../../../src/core/hooks/files/folder.ts'
import type { Target } from '../../../../src/core/hooks/files/target.ts'

const PREFIX = join(tmpdir(), 'crab-')

function targetOf(path: string, fdLinks: string): Target {
  return { tool: 'write', path, shown: 'it', closed: [], fdLinks }
}

async function swapped(dir: string): Promise<void> {
  await rename(join(dir, 'work'), join(dir, 'kept'))
  await symlink('secret', join(dir, 'work'))
}

test('openFolder() stays in the folder it opened, whatever takes its place', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  for (const name of ['work', 'secret']) await mkdir(join(dir.path, name))
  await using folder = await openFolder(
    join(dir.path, 'work'),
    targetOf(join(dir.path, 'work/a'), '/proc/self/fd'),
  )
  await swapped(dir.path)
  await folder.verify()
  await writeFile(folder.at('a'), 'text')
  assert.equal(await readFile(join(dir.path, 'kept/a'), 'utf8'), 'text')
  assert.deepEqual(await readdir(join(dir.path, 'secret')), [])
})

test('openFolder() notices what takes its place on systems without links to open files', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  for (const name of ['work', 'secret', 'other']) await mkdir(join(dir.path, name))
  const path = join(dir.path, 'work')
  await using folder = await openFolder(path, targetOf(join(path, 'a'), '/nowhere'))
  await folder.verify()
  await swapped(dir.path)
  await assert.rejects(folder.verify(), { kind: 'conflict' })
  await rename(path, join(dir.path, 'link'))
  await assert.rejects(folder.verify(), { kind: 'conflict' })
  await rename(join(dir.path, 'other'), path)
  await assert.rejects(folder.verify(), { kind: 'conflict' })
})

test('makeFolder() makes what is missing, and does not follow what took its place', async () => {
  for (const fdLinks of ['/proc/self/fd', '/nowhere']) {
    await using dir = await mkdtempDisposable(PREFIX)
    const path = join(dir.path, 'a', 'b', 'c')
    await Promise.all(
      [1, 2, 3].map(async () => {
        await using folder = await makeFolder(path, targetOf(join(path, 'x'), fdLinks))
        await writeFile(folder.at('x'), 'text')
      }),
    )
    assert.deepEqual(await readdir(path), ['x'])
    await symlink(path, join(dir.path, 'link'))
    const target = targetOf(join(dir.path, 'link', 'd', 'x'), fdLinks)
    await assert.rejects(makeFolder(join(dir.path, 'link', 'd'), target), { kind: 'conflict' })
    assert.deepEqual(await readdir(path), ['x'])
  }
})
