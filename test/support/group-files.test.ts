import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { groupFiles, writeGroup } from './group-files.ts'
import { makeTree } from './trees.ts'

test('groupFiles() puts each file into one place: alone what touches its process, the others with their neighbours', () => {
  const touching = ['process' + '.env', "from 'node:child_process'", 'after' + '(() => {})']
  const files = Array.from({ length: 20 }, (_, at) => `test/${String(at).padStart(2, '0')}.test.ts`)
  const { alone, groups } = groupFiles(files, (file) => touching[files.indexOf(file)] ?? 'afterwards()')
  assert.deepEqual(alone, files.slice(0, 3))
  assert.deepEqual(groups.flat(), files.slice(3))
  assert.deepEqual(
    groups.map(({ length }) => length),
    [8, 8, 1],
  )
})

test('writeGroup() writes a test file that loads those of a group', async () => {
  await using tree = await makeTree({})
  const path = writeGroup(tree.path('.'), ['test/core/a.test.ts', 'test/b.test.ts'])
  assert.match(path, /\/test-core-a-and-more\.test\.mjs$/)
  assert.match(
    await readFile(path, 'utf8'),
    /^import "\/.*\/test\/core\/a\.test\.ts"\nimport "\/.*\/test\/b\.test\.ts"\n$/,
  )
})
