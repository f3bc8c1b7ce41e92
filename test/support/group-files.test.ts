import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { groupFiles, type TestGroup, writeGroup } from './group-files.ts'
import { makeTree } from './trees.ts'

const nameFiles = (count: number) =>
  Array.from({ length: count }, (_, at) => `test/${String(at).padStart(2, '0')}.test.ts`)

test('groupFiles() puts each file into one group: alone if it disturbs others, otherwise with its neighbours', () => {
  const disturbing = [
    "process.env['TZ']" + " = 'UTC'",
    'process.ch' + "dir('/')",
    'be' + 'fore(() => {})',
    't.mock.' + 'timers.enable()',
    'process.o' + "n('exit', f)",
  ]
  const files = nameFiles(60)
  const groups = groupFiles(
    files,
    (file) => disturbing[files.indexOf(file)] ?? 'process.pid; after(() => {})',
  )
  const isAlone = (group: TestGroup) => group.files.some((file) => disturbing[files.indexOf(file)])
  const alone = groups.filter(isAlone).map((group) => group.files)
  assert.deepEqual(
    alone.toSorted(),
    files.slice(0, 5).map((file) => [file]),
  )
  const shared = groups.filter((group) => !isAlone(group)).map((group) => group.files)
  assert.deepEqual(shared.flat().toSorted(), files.slice(5))
  for (const group of shared) {
    assert.ok(group.length <= 24)
    assert.deepEqual(group, files.slice(files.indexOf(group[0]!), files.indexOf(group.at(-1)!) + 1))
  }
})

test('groupFiles() puts the longest group first, and few files into a group when they start programs', () => {
  const files = nameFiles(96)
  const startsPrograms = (file: string) => files.indexOf(file) >= 72
  const groups = groupFiles(files, (file) =>
    startsPrograms(file) ? "from 'node:child_process'" : 'x'.repeat(9_000),
  )
  const weights = groups.map(({ weight }) => weight)
  assert.deepEqual(
    weights,
    weights.toSorted((a, b) => b - a),
  )
  for (const group of groups) {
    if (group.files.every(startsPrograms)) assert.ok(group.files.length < 24, `${group.files.length}`)
  }
})

test('writeGroup() writes a test file that loads those of a group, after the notes of its process', async () => {
  await using tree = await makeTree({})
  const path = writeGroup(tree.path('.'), ['test/core/a.test.ts', 'test/b.test.ts'], 7)
  assert.match(path, /\/007-test-core-a-and-1-more\.test\.mjs$/)
  assert.match(
    await readFile(path, 'utf8'),
    /^import "\/.*\/group-notes\.ts"\nimport "\/.*\/test\/core\/a\.test\.ts"\nimport "\/.*\/test\/b\.test\.ts"\n$/,
  )
})
