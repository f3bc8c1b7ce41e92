import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openFileFinder } from '../../../src/commands/chat/find-files.ts'
import { listFiles } from '../../../src/core/hooks/search/list-files.ts'

const NEVER = new AbortController().signal

const TREE = {
  '.git/HEAD': '',
  '.gitignore': 'node_modules/\n*.log\n',
  '.env': '',
  'README.md': '',
  'debug.log': '',
  'node_modules/x/readme.md': '',
  'src/core/read.ts': '',
  'src/main.ts': '',
  'src/.hidden/main.ts': '',
  'with blank/a b.txt': '',
}

test('an empty query returns nearby files, without ignored and hidden ones', async () => {
  await using box = await openBox()
  assert.deepEqual(await box.find(''), [
    'src/',
    'README.md',
    'with blank/',
    'src/core/',
    'src/main.ts',
    'with blank/a b.txt',
    'src/core/read.ts',
  ])
})

test('a query matches names first, then parts of paths, then letters in their order', async () => {
  await using box = await openBox()
  assert.deepEqual(await box.find('read'), ['README.md', 'src/core/read.ts'])
  assert.deepEqual(await box.find('src/'), ['src/', 'src/core/', 'src/main.ts', 'src/core/read.ts'])
  assert.deepEqual(await box.find('smn'), ['src/main.ts'])
  assert.deepEqual(await box.find('a b'), ['with blank/a b.txt'])
  assert.deepEqual(await box.find('nothing of that kind'), [])
})

test('hidden files are found when the query names them, .git never', async () => {
  await using box = await openBox()
  assert.deepEqual(await box.find('.env'), ['.env'])
  assert.deepEqual(await box.find('src/.h'), ['src/.hidden/', 'src/.hidden/main.ts'])
  assert.deepEqual(await box.find('.git'), ['.gitignore'])
})

test('other folders are listed by their path', async () => {
  await using box = await openBox()
  assert.deepEqual(await box.find(`${box.path}/s`), [`${box.path}/src/`])
  assert.deepEqual(await box.find('~/with'), ['~/with blank/'])
  assert.deepEqual(await box.find('./src/m'), ['./src/main.ts'])
  assert.deepEqual(await box.find('../nothing/there'), [])
})

test('a listing is cached briefly', async () => {
  await using box = await openBox()
  assert.deepEqual(await box.find('new.ts'), [])
  await writeFile(join(box.path, 'new.ts'), '')
  assert.deepEqual(await box.find('new.ts'), [])
  box.clock.now += 3_000
  assert.deepEqual(await box.find('new.ts'), ['new.ts'])
})

test('an abort fails', async () => {
  await using box = await openBox()
  await assert.rejects(box.find('x', AbortSignal.abort()))
})

test('listFiles() stops at its limits after the root, and follows no link', async () => {
  await using box = await openBox()
  await symlink('.', join(box.path, 'src', 'loop'))
  const bounds = { hidden: false, mostEntries: 100, until: 1, now: () => 0 }
  const all = await listFiles(box.path, bounds, NEVER)
  assert.deepEqual(
    all.filter((path) => path.includes('loop')),
    ['src/loop'],
  )
  assert.deepEqual(await listFiles(box.path, { ...bounds, mostEntries: 2 }, NEVER), all.slice(0, 2))
  assert.deepEqual(
    await listFiles(box.path, { ...bounds, until: 0 }, NEVER),
    all.filter((path) => !/\/./.test(path)),
  )
})

test('a query ignores letter case', async () => {
  await using box = await openBox({ 'src/READ.md': '' })
  assert.deepEqual(await box.find('Read'), ['README.md', 'src/READ.md', 'src/core/read.ts'])
})

async function openBox(more: Readonly<Record<string, string>> = {}) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  for (const [path, text] of Object.entries({ ...TREE, ...more })) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true })
    await writeFile(join(folder.path, path), text)
  }
  const clock = { now: 0 }
  const find = openFileFinder({ cwd: folder.path, home: folder.path, now: () => clock.now })
  return Object.assign(folder, { clock, find: (query: string, signal = NEVER) => find(query, signal) })
}
