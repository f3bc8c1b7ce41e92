import assert from 'node:assert/strict'
import { chmod, link, mkdtempDisposable, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { fileTools } from '../../../support/file-tools.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { mountSmallDisk } from '../../../support/small-disk.ts'

const PREFIX = join(tmpdir(), 'crab-')
const TEN = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join('')

/** Creates a folder with one file that the conversation has read. */
async function seen(content: string | Buffer) {
  const dir = await mkdtempDisposable(PREFIX)
  const path = join(dir.path, 'file')
  await writeFile(path, content)
  const tools = fileTools(dir.path)
  await tools.run('read', { path: 'file' })
  return {
    ...tools,
    dir: dir.path,
    path,
    edit: (...edits: object[]) => tools.say('edit', { path: 'file', edits }),
    content: () => readFile(path, 'utf8'),
    [Symbol.asyncDispose]: () => dir.remove(),
  }
}

test('edit replaces a text and shows the numbered lines around it', async () => {
  await using file = await seen(TEN)
  assert.equal(
    await file.edit({ old: 'line 5\nline 6', new: 'five\nand a half\nsix' }),
    'Edited file\n[lines 3-9 of 11]\nline 3\nline 4\nfive\nand a half\nsix\nline 7\nline 8',
  )
  assert.equal(await file.content(), TEN.replace('line 5\nline 6', 'five\nand a half\nsix'))
})

test('edit shows both ends of a long change, and the common context of several changes once', async () => {
  await using file = await seen(TEN)
  const long = Array.from({ length: 20 }, (_, index) => `new ${index}`).join('\n')
  assert.equal(
    await file.edit(
      { old: 'line 1\n', new: '' },
      { old: 'line 8', new: long },
      { old: 'line 2', new: 'line two' },
    ),
    [
      'Edited file',
      '[lines 1-3 of 28]\nline two\nline 3\nline 4',
      '[lines 5-9 of 28]\nline 6\nline 7\nnew 0\nnew 1\nnew 2',
      '[lines 24-28 of 28]\nnew 17\nnew 18\nnew 19\nline 9\nline 10',
    ].join('\n'),
  )
})

test('edit is brief about changes all over a file, long lines, and empty results', async () => {
  await using file = await seen('a\nb\nc\nd\ne\nf\n'.repeat(20))
  const answer = await file.edit({ old: 'a', new: 'x', all: true })
  assert.match(answer, /^Edited file\n\[lines 1-3 of 120\]\nx\nb\nc\n\[lines 5-9 of 120\]\n/)
  assert.match(answer, /\n\[lines 47-48 of 120\]\ne\nf\n\[and more\]$/)
  await using line = await seen('a')
  assert.match(await line.edit({ old: 'a', new: 'x'.repeat(500) }), /\nx{200}…$/)
  assert.equal(await line.edit({ old: 'x'.repeat(500), new: '' }), 'Edited file\n[The file is empty now.]')
})

test('edit changes a text in very many places', async () => {
  await using file = await seen('ab\n'.repeat(300_000))
  const answer = await file.edit({ old: 'a', new: 'c', all: true })
  assert.equal(answer, `Edited file\n[lines 1-40 of 300000]\n${'cb\n'.repeat(40)}[and more]`)
  assert.equal(await file.content(), 'cb\n'.repeat(300_000))
  await using exact = await seen('ab\n'.repeat(40))
  assert.equal((await exact.edit({ old: 'a', new: 'c', all: true })).split('\n').at(-1), 'cb')
})

test('edit requires the current version to have been read, and knows what it wrote', async () => {
  await using file = await seen(TEN)
  file.files.clear()
  assert.equal(
    await file.edit({ old: 'line 2', new: '2' }),
    '!Cannot edit file: you have not read it (read it first)',
  )
  await file.say('read', { path: 'file', offset: 9 })
  assert.match(await file.edit({ old: 'line 2', new: '2' }), /^Edited/)
  assert.match(await file.edit({ old: 'line 3', new: '3' }), /^Edited/)
  await writeFile(file.path, TEN)
  assert.equal(
    await file.edit({ old: 'line 2', new: '2' }),
    '!Cannot edit file: it has changed since you last saw it (read it again)',
  )
  assert.equal(await file.content(), TEN)
})

test('edit makes all edits or none', async () => {
  await using file = await seen(TEN)
  const answer = await file.edit({ old: 'line 2', new: '2' }, { old: 'line 99', new: '99' })
  assert.match(answer, /^!Cannot edit file: edits\[1\]\.old does not occur/)
  assert.equal(await file.content(), TEN)
  assert.deepEqual(await readdir(file.dir), ['file'])
})

test('two edits of one step see each other’s result, in either order', async () => {
  await using file = await seen(TEN)
  const answers = await Promise.all([2, 4, 6, 8].map((n) => file.edit({ old: `line ${n}\n`, new: `${n}\n` })))
  for (const answer of answers) assert.match(answer, /^Edited/)
  assert.equal(await file.content(), TEN.replaceAll(/line (?=[2468]\n)/g, ''))
})

test('edit keeps everything else byte for byte: byte order mark, encoding, line ends, mode, links', async () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'é', '🦀', ' ', '\t', '\n', '\r\n', '\r'),
    maxLength: 30,
  })
  const encodings: [string, (content: string) => Buffer][] = [
    ['', (content) => Buffer.from(content)],
    ['\ufeff', (content) => Buffer.from(content)],
    ['\ufeff', (content) => Buffer.from(content, 'utf16le')],
    ['\ufeff', (content) => Buffer.from(content, 'utf16le').swap16()],
  ]
  await using file = await seen('')
  await chmod(file.path, 0o750)
  await fc.assert(
    fc.asyncProperty(text, text, fc.constantFrom(...encodings), async (before, after, [mark, encode]) => {
      await writeFile(file.path, encode(`${mark}${before}<here>${after}`))
      await file.run('read', { path: 'file' })
      assert.match(await file.edit({ old: '<here>', new: 'there' }), /^Edited/)
      assert.deepEqual(await readFile(file.path), encode(`${mark}${before}there${after}`))
      assert.equal((await stat(file.path)).mode & 0o777, 0o750)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('edit changes the file behind links', async () => {
  await using file = await seen(TEN)
  await symlink('file', join(file.dir, 'link'))
  await link(file.path, join(file.dir, 'second'))
  const answer = await file.say('edit', { path: 'link', edits: [{ old: 'line 2', new: 'two' }] })
  assert.match(answer, /^Edited link/)
  assert.equal(await readFile(join(file.dir, 'second'), 'utf8'), TEN.replace('line 2', 'two'))
  assert.ok((await stat(file.path)).nlink === 2)
})

test('edit does not create files, and does not change binary ones', async () => {
  await using file = await seen(Buffer.from('89504e470d0a1a0a0000', 'hex'))
  assert.equal(await file.edit({ old: 'a', new: 'b' }), '!Cannot edit file: it is a binary file of 10 bytes')
  const edits = [{ old: 'a', new: 'b' }]
  assert.equal(
    await file.say('edit', { path: 'none', edits }),
    '!Cannot edit none: the file does not exist (write creates files)',
  )
  assert.equal(
    await file.say('edit', { path: 'flie', edits }),
    '!Cannot edit flie: the file does not exist (did you mean "file"?)',
  )
})

test('edit changes nothing on a full disk', async () => {
  using disk = mountSmallDisk(256)
  if (!disk) return // write.test.ts limits a process instead, which needs no privileges
  const content = `${'x'.repeat(150_000)}\nlast\n`
  await writeFile(join(disk.path, 'file'), content)
  const { say } = fileTools(disk.path)
  await say('read', { path: 'file' })
  const edits = [{ old: 'last', new: 'y' }]
  assert.equal(
    await say('edit', { path: 'file', edits }),
    '!Cannot edit file: the disk is full; nothing was changed',
  )
  assert.equal(await readFile(join(disk.path, 'file'), 'utf8'), content)
  assert.deepEqual(await readdir(disk.path), ['file'])
})
