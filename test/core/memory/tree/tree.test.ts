import assert from 'node:assert/strict'
import {
  cp,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { marked, type Token, type Tokens } from 'marked'
import { dumpTree } from '../../../../src/core/memory/tree/dump-tree.ts'
import { loadTree } from '../../../../src/core/memory/tree/load-tree.ts'
import type { MemoryEntry, MemoryKind } from '../../../../src/core/memory/types.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { mountReadOnly } from '../../../support/small-disk.ts'

const NEVER = new AbortController().signal

test('dumpTree() writes a tree for mdbook: every link leads to a file, and every file has a link', async () => {
  await using dir = await folder()
  const entries = [
    entry('deploy', { aliases: ['ship'] }),
    entry('prod rollout (1) [x] *y* `z` <b> & \\ 100%'),
    entry('螃蟹 #1'),
    entry('ci/cd'),
    entry('01KABC-1', { kind: 'archive', aliases: ['The [great] plan'] }),
    entry('old', { kind: 'topic' }),
  ]
  assert.deepEqual(await dumpTree(dir.path, entries, NEVER), { files: 6, removed: 0 })
  const links = findLinks(await readFile(join(dir.path, 'SUMMARY.md'), 'utf8'))
  const files = (await filesIn(dir.path)).filter((path) => path.includes('/'))
  assert.deepEqual(links.map(({ href }) => decodeURI(href)).sort(), files)
  assert.ok(
    links.every(({ href }) => !/%(?!20)/.test(href)),
    'mdbook knows %20 alone',
  )
  const names = [...entries.slice(0, 4).map(({ name }) => name), 'The [great] plan', 'old']
  assert.deepEqual(links.map(({ text }) => text).sort(), names.sort())
  assert.match(await readFile(join(dir.path, 'book.toml'), 'utf8'), /^src = "\."$/m)
  assert.equal((await stat(join(dir.path, 'notes', 'deploy.md'))).mode & 0o777, 0o600)
})

test('dumpTree() removes files of deleted entries, and leaves everything else alone', async () => {
  await using dir = await folder()
  const first = [entry('a'), entry('b'), entry('s-1', { kind: 'archive' })]
  await dumpTree(dir.path, first, NEVER)
  const own = { 'book.toml': 'mine', 'theme/x.css': 'x', 'notes/picture.png': 'p', 'notes/deep/x.md': 'x' }
  await write(dir.path, own)
  const before = await stat(join(dir.path, 'notes', 'a.md'))
  assert.deepEqual(await dumpTree(dir.path, [entry('a'), entry('c')], NEVER), { files: 2, removed: 2 })
  assert.deepEqual(
    await filesIn(dir.path),
    [...Object.keys(own), 'SUMMARY.md', 'notes/a.md', 'notes/c.md'].sort(),
  )
  assert.equal(await readFile(join(dir.path, 'book.toml'), 'utf8'), 'mine')
  assert.equal(
    (await stat(join(dir.path, 'notes', 'a.md'))).mtimeMs,
    before.mtimeMs,
    'what is the same is not written',
  )
})

test('dumpTree() rejects a folder of notes that no dump has written', async () => {
  await using dir = await folder()
  await write(dir.path, { 'notes/shopping.md': 'milk' })
  const refused = { kind: 'conflict', message: /notes\/shopping\.md was not written by a dump/ }
  await assert.rejects(dumpTree(dir.path, [entry('a')], NEVER), refused)
  assert.deepEqual(await filesIn(dir.path), ['notes/shopping.md'])
  await write(dir.path, { 'SUMMARY.md': '' })
  assert.deepEqual(await dumpTree(dir.path, [entry('a')], NEVER), { files: 1, removed: 1 })
})

test('dumpTree() fails with storage where nothing can be written, and leaves the tree unchanged', async () => {
  await using dir = await folder()
  await dumpTree(dir.path, [entry('a')], NEVER)
  const before = await filesIn(dir.path)
  using mount = mountReadOnly(dir.path)
  if (!mount) return
  await assert.rejects(dumpTree(mount.path, [entry('b')], NEVER), { kind: 'storage' })
  assert.deepEqual(await filesIn(dir.path), before)
})

test('a cancelled dump leaves the tree unchanged', async () => {
  await using dir = await folder()
  await dumpTree(dir.path, [entry('a')], NEVER)
  await assert.rejects(dumpTree(dir.path, [entry('b')], AbortSignal.abort()), { name: 'AbortError' })
  assert.deepEqual(await filesIn(dir.path), ['SUMMARY.md', 'book.toml', 'notes/a.md'])
})

test('a complete dump that was killed is finished by the next load, whatever it had moved', async () => {
  await using dir = await folder()
  const [old, young] = [
    [entry('a'), entry('b', { aliases: ['x'] })],
    [entry('a'), entry('c', { aliases: ['x'] })],
  ]
  for (const moved of [[], ['notes/c.md'], ['notes/c.md', 'SUMMARY.md']]) {
    const path = join(dir.path, `after ${moved.length}`)
    await dumpTree(path, old, NEVER)
    await dumpTree(join(path, 'next'), young, NEVER)
    const ready = join(path, '.crabtalk-dump')
    await cp(join(path, 'next'), ready, { recursive: true })
    await writeFile(
      join(ready, 'files.json'),
      '["notes/a.md","notes/c.md","SUMMARY.md","../evil.md","notes/../x.md"]',
    )
    await rm(join(ready, 'notes', 'a.md')) // it is the same in the tree
    await write(path, { 'evil.md': 'is not moved out' })
    for (const file of moved) await rename(join(ready, file), join(path, file))
    await rm(join(path, 'next'), { recursive: true })
    assert.deepEqual(names(await loadTree(path, NEVER)), ['a', 'c'])
    assert.deepEqual(await filesIn(path), ['SUMMARY.md', 'book.toml', 'evil.md', 'notes/a.md', 'notes/c.md'])
    assert.match(await readFile(join(path, 'SUMMARY.md'), 'utf8'), /notes\/c\.md/)
  }
})

test('an incomplete dump that was killed has no effect', async () => {
  await using dir = await folder()
  await dumpTree(dir.path, [entry('a')], NEVER)
  const left = [
    '.crabtalk-dump.01AAAAAAAAAAAAAAAAAAAAAAAA.tmp',
    '.crabtalk-dump.7ZZZZZZZZZZZZZZZZZZZZZZZZZ.tmp',
  ]
  for (const name of left) await write(dir.path, { [`${name}/notes/b.md`]: 'half' })
  assert.deepEqual(names(await loadTree(dir.path, NEVER)), ['a'])
  await dumpTree(dir.path, [entry('a')], NEVER)
  const retained = (await readdir(dir.path)).filter((name) => name.startsWith('.'))
  assert.deepEqual(retained, left.slice(1), 'one that may still run is left alone')
})

test('loadTree() reverses dumpTree()', async () => {
  await using dir = await folder()
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('a', 'A', 'a/b', '..', 'con', ' x '),
  )
  const kind = fc.constantFrom<MemoryKind>('note', 'archive', 'topic')
  const made = fc.record({
    kind,
    name: text,
    content: text,
    aliases: fc.array(text, { maxLength: 2 }),
    createdAt: fc.nat(),
  })
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(made, { maxLength: 6 }), async (all) => {
      const path = join(dir.path, `${run++ % 3}`) // into the trees of earlier runs
      const entries = distinct(all.map((one) => ({ ...one, id: 0n, createdAt: BigInt(one.createdAt) })))
      await dumpTree(path, entries, NEVER)
      const loaded = await loadTree(path, NEVER)
      assert.deepEqual(loaded.ignored, [])
      assert.deepEqual(byName(loaded.entries), byName(entries))
    }),
    { numRuns: propertyRuns(300, 20) },
  )
})

test('loadTree() accepts files that people wrote', async () => {
  await using dir = await folder()
  await write(dir.path, {
    'notes/Cafe\u0301.md': 'beans\n',
    'notes/upper.MD': 'x',
    'notes/.hidden.md': 'x',
    'notes/picture.png': 'x',
    'notes/deep/er/note.md': 'x',
    'README.md': 'x',
  })
  const { entries, ignored } = await loadTree(dir.path, NEVER)
  const entry = { id: 0n, kind: 'note', createdAt: undefined, aliases: [] }
  assert.deepEqual(entries, [
    { ...entry, name: 'Café', content: 'beans' },
    { ...entry, name: 'upper', content: 'x' },
  ])
  assert.deepEqual(ignored, ['notes/deep/er/note.md'])
})

test('loadTree() rejects an invalid tree, and names the file', async () => {
  await using dir = await folder()
  const meta = (name: string) => `<div id="meta"><dl><dt>Name</dt><dd>${name}</dd></dl></div>\n`
  const aliases = (...all: string[]) => {
    const items = all.map((one) => `<li>${one}</li>`).join('')
    return `<div id="meta"><dl><dt>Aliases</dt><dd><ul>${items}</ul></dd></dl></div>\n`
  }
  const trees: [Record<string, string | Uint8Array>, RegExp][] = [
    [{ 'notes/a.md': new Uint8Array([0x61, 0xff]) }, /notes\/a\.md: it is not UTF-8/],
    [{ 'notes/a.md': '<div id="meta">' }, /notes\/a\.md: its metadata cannot be read/],
    [{ 'notes/a.md': 'x', 'archives/a.md': 'y' }, /archives\/a\.md: "a" is a name in notes\/a\.md/],
    [{ 'notes/a.md': meta('b'), 'notes/b.md': 'x' }, /notes\/b\.md: "b" is a name in notes\/a\.md/],
    [{ 'notes/a.md': 'x', 'notes/b.md': aliases('a') }, /notes\/b\.md: "a" is a name in notes\/a\.md/],
    [{ 'notes/a.md': aliases('x', 'x') }, /notes\/a\.md: "x" is a name in it twice/],
    [{ 'notes/a.md': meta('') }, /notes\/a\.md: a name in it is empty/],
    [{ 'notes/a.md': 'x'.repeat(2 ** 20 + 1) }, /notes\/a\.md: its content is longer/],
    [{ 'notes/a.md': 'x'.repeat(2 ** 21 + 1) }, /notes\/a\.md: it is longer/],
  ]
  for (const [index, [files, message]] of trees.entries()) {
    await write(join(dir.path, `${index}`), files)
    await assert.rejects(loadTree(join(dir.path, `${index}`), NEVER), { kind: 'invalid', message })
  }
})

test('loadTree() follows no symbolic link, so that a foreign tree reads no other file', async () => {
  await using dir = await folder()
  const [path, outside] = [join(dir.path, 'tree'), join(dir.path, 'outside')]
  await write(outside, { 'secret.md': 'private', 'deep/secret.md': 'private' })
  await write(path, { 'notes/own.md': 'x' })
  await symlink(join(outside, 'secret.md'), join(path, 'notes', 'link.md'))
  await symlink(outside, join(path, 'notes', 'folder'))
  await symlink(outside, join(path, 'topics'))
  const { entries, ignored } = await loadTree(path, NEVER)
  assert.deepEqual(
    entries.map(({ name, content }) => [name, content]),
    [['own', 'x']],
  )
  assert.deepEqual(ignored, ['notes/link.md', 'topics'])
})

test('a tree with links in place of its folders moves and removes nothing elsewhere', async () => {
  await using dir = await folder()
  const outside = join(dir.path, 'outside')
  const own = { 'a.md': 'private', 'notes/a.md': 'private' }
  const ready = { '.crabtalk-dump/files.json': '["notes/a.md"]' }
  await write(outside, { ...own, 'files.json': '["notes/a.md"]' })
  const links: [string, Record<string, string>][] = [
    ['.crabtalk-dump/notes', ready],
    ['.crabtalk-dump', {}],
    ['notes', { ...ready, '.crabtalk-dump/notes/b.md': 'x' }],
  ]
  for (const [index, [link, files]] of links.entries()) {
    const path = join(dir.path, `${index}`)
    await write(path, { ...files, 'SUMMARY.md': '' })
    await symlink(outside, join(path, link))
    const refused = { kind: 'conflict', message: /symbolic link/ }
    await assert.rejects(loadTree(path, NEVER), refused)
    await assert.rejects(dumpTree(path, [entry('c')], NEVER), refused)
    assert.deepEqual(await filesIn(outside), ['a.md', 'files.json', 'notes/a.md'])
  }
})

test('a file can be neither loaded nor dumped as a tree', async () => {
  await using dir = await folder()
  await write(dir.path, { file: 'x' })
  const refused = { kind: 'no-input', message: /it is not a folder/ }
  await assert.rejects(loadTree(join(dir.path, 'file'), NEVER), refused)
  await assert.rejects(dumpTree(join(dir.path, 'file'), [], NEVER), refused)
})

test('loadTree() rejects a folder that is not a tree, so that no memory is emptied by mistake', async () => {
  await using dir = await folder()
  await assert.rejects(loadTree(dir.path, NEVER), { kind: 'no-input', message: /neither a folder notes/ })
  await assert.rejects(loadTree(join(dir.path, 'x'), NEVER), {
    kind: 'no-input',
    message: /the directory does not exist/,
  })
  await dumpTree(dir.path, [], NEVER)
  assert.deepEqual(await loadTree(dir.path, NEVER), { entries: [], ignored: [] })
})

function entry(name: string, more: Partial<MemoryEntry> = {}): MemoryEntry {
  return { id: 0n, createdAt: 1n, kind: 'note', name, content: `of ${name}`, aliases: [], ...more }
}

/** Entries as a memory holds them: names are neither empty nor duplicate. */
function distinct(entries: readonly MemoryEntry[]): MemoryEntry[] {
  const taken = new Set([''])
  const isFree = (name: string) => !taken.has(name) && taken.add(name)
  return entries.flatMap((one) => (isFree(one.name) ? [{ ...one, aliases: one.aliases.filter(isFree) }] : []))
}

function byName<T extends { name: string }>(entries: readonly T[]): T[] {
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function names({ entries }: { entries: readonly { name: string }[] }): string[] {
  return entries.map(({ name }) => name).sort()
}

function findLinks(markdown: string): { href: string; text: string }[] {
  const links: { href: string; text: string }[] = []
  marked.walkTokens(marked.lexer(markdown), (token: Token) => {
    if (token.type === 'link')
      links.push({ href: token.href, text: plainText((token as Tokens.Link).tokens) })
  })
  return links
}

function plainText(tokens: readonly Token[]): string {
  return tokens.map((token) => (token as Tokens.Text).text).join('')
}

async function folder() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  return { path: dir.path, [Symbol.asyncDispose]: () => dir.remove() }
}

async function write(path: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true })
    await writeFile(join(path, name), content)
  }
}

async function filesIn(path: string): Promise<string[]> {
  const all = await readdir(path, { recursive: true, withFileTypes: true })
  const files = all
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(path.length + 1))
  return files.sort()
}
