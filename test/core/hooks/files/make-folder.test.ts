import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder } from '../../../../src/core/hooks/files/make-folder.ts'
import type { FileTarget } from '../../../../src/core/hooks/files/target.ts'

const PREFIX = join(tmpdir(), 'crab-')

function makeTarget(path: string, fdLinks: string): FileTarget {
  return { tool: 'write', path, shown: 'it', closed: [], fdLinks, mayShow: () => true }
}

test('makeFolder() creates missing folders, and does not follow a link that replaced one', async () => {
  for (const fdLinks of ['/proc/self/fd', '/nowhere']) {
    await using dir = await mkdtempDisposable(PREFIX)
    const path = join(dir.path, 'a', 'b', 'c')
    await Promise.all(
      [1, 2, 3].map(async () => {
        await using folder = await makeFolder(path, makeTarget(join(path, 'x'), fdLinks))
        await writeFile(folder.at('x'), 'text')
      }),
    )
    assert.deepEqual(await readdir(path), ['x'])
    await symlink(path, join(dir.path, 'link'))
    const target = makeTarget(join(dir.path, 'link', 'd', 'x'), fdLinks)
    await assert.rejects(makeFolder(join(dir.path, 'link', 'd'), target), { kind: 'conflict' })
    assert.deepEqual(await readdir(path), ['x'])
  }
})
