import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmod,
  chown,
  link,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileTools, NOBODY, sayElsewhere } from '../../../support/file-tools.ts'
import { mountSmallDisk } from '../../../support/small-disk.ts'

const PREFIX = join(tmpdir(), 'crab-')

test('write creates a file and its folders like other programs, and says so in a line', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const { say } = fileTools(dir.path)
  const before = process.umask(0o027)
  try {
    assert.equal(
      await say('write', { path: 'a/b/c.txt', content: 'é\nx' }),
      'Created a/b/c.txt: 2 lines, 4 bytes',
    )
  } finally {
    process.umask(before)
  }
  assert.equal(await readFile(join(dir.path, 'a/b/c.txt'), 'utf8'), 'é\nx')
  assert.equal((await stat(join(dir.path, 'a/b/c.txt'))).mode & 0o777, 0o640)
  assert.equal((await stat(join(dir.path, 'a/b'))).mode & 0o777, 0o750)
  assert.deepEqual(await readdir(join(dir.path, 'a/b')), ['c.txt'])
  assert.equal(await say('write', { path: 'empty', content: '' }), 'Created empty: 0 lines, 0 bytes')
})

test('write replaces only a version that the conversation has seen', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const path = join(dir.path, 'file')
  const { say } = fileTools(dir.path)
  await writeFile(path, 'old\n')
  const write = (content: string) => say('write', { path: 'file', content })
  assert.equal(
    await write('new\n'),
    '!Cannot write file: it exists, and you have not read it (read it first)',
  )
  await say('read', { path: 'file', limit: 1 })
  assert.equal(await write('new\n'), 'Replaced file: 1 line, 4 bytes')
  assert.equal(await write('newer\n'), 'Replaced file: 1 line, 6 bytes')
  assert.equal(await write('newer\n'), 'file already has this content: 1 line, 6 bytes')
  await writeFile(path, 'other\n')
  assert.equal(await write('x'), '!Cannot write file: it has changed since you last saw it (read it again)')
  assert.equal(await readFile(path, 'utf8'), 'other\n')
  await rm(path)
  assert.equal(await write('x'), 'Created file: 1 line, 1 byte')
  await truncate(path)
  assert.equal(await write('y'), 'Replaced file: 1 line, 1 byte')
})

test('write identifies a version by its contents, not by its time', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const { say } = fileTools(dir.path)
  for (const content of ['a\n', 'line\n'.repeat(300_000)]) {
    await writeFile(join(dir.path, 'file'), content)
    await say('read', { path: 'file' })
    await rm(join(dir.path, 'file'))
    await writeFile(join(dir.path, 'file'), content)
    assert.match(await say('write', { path: 'file', content: 'b\n' }), /^Replaced file/)
  }
})

test('write keeps mode, owner, encoding and line ends of the file it replaces', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const path = join(dir.path, 'file')
  const { say } = fileTools(dir.path)
  const replace = async (before: Buffer | string, content: string) => {
    await writeFile(path, before)
    await chmod(path, 0o6751)
    await say('read', { path })
    const answer = await say('write', { path: 'file', content })
    assert.equal((await stat(path)).mode & 0o7777, 0o6751)
    return { said: answer, bytes: await readFile(path) }
  }
  await writeFile(path, '')
  if (process.getuid!() === 0) await chown(path, NOBODY.uid, NOBODY.gid)
  const { uid, gid } = await stat(path)
  assert.deepEqual(await replace('a\r\nb\r\n', 'x\ny\n'), {
    said: 'Replaced file (CRLF kept): 2 lines, 6 bytes',
    bytes: Buffer.from('x\r\ny\r\n'),
  })
  assert.equal((await replace('a\r\nb\n', 'x\ny\n')).bytes.toString(), 'x\ny\n')
  assert.equal((await replace('a\nb\n', 'x\r\ny\n')).bytes.toString(), 'x\r\ny\n')
  assert.equal((await replace('a\r\nb\r\n', 'x\r\ny\n')).bytes.toString(), 'x\r\ny\n')
  const marked = await replace('\ufeffa', '\ufeffb')
  assert.deepEqual(marked, {
    said: 'Replaced file (byte order mark kept): 1 line, 4 bytes',
    bytes: Buffer.from('\ufeffb'),
  })
  const wide = await replace(Buffer.from('\ufeffa\r\n', 'utf16le').swap16(), 'é\n')
  assert.deepEqual(wide, {
    said: 'Replaced file (CRLF and UTF-16BE kept): 1 line, 8 bytes',
    bytes: Buffer.from('\ufeffé\r\n', 'utf16le').swap16(),
  })
  const after = await stat(path)
  assert.deepEqual([after.uid, after.gid], [uid, gid])
})

test('write replaces the file behind links, never the link', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const at = (name: string) => join(dir.path, name)
  await mkdir(at('real'))
  await writeFile(at('real/file'), 'old')
  await symlink('real/file', at('link'))
  await symlink('real', at('folder'))
  await symlink('real/new', at('dangling'))
  await link(at('real/file'), at('second'))
  const { say } = fileTools(dir.path)
  await say('read', { path: 'link' })
  assert.match(
    await say('write', { path: 'folder/file', content: 'a longer text' }),
    /^Replaced folder\/file/,
  )
  assert.equal(await readFile(at('second'), 'utf8'), 'a longer text')
  assert.match(await say('write', { path: 'link', content: 'short' }), /^Replaced link/)
  assert.equal(await readFile(at('second'), 'utf8'), 'short')
  assert.match(await say('write', { path: 'dangling', content: 'new' }), /^Created dangling/)
  assert.equal(await readFile(at('real/new'), 'utf8'), 'new')
  assert.deepEqual((await readdir(at('real'))).toSorted(), ['file', 'new'])
})

test('write reports what is in the way', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const at = (name: string) => join(dir.path, name)
  await mkdir(at('folder'))
  await writeFile(at('file'), 'x')
  await writeFile(at('bin'), new Uint8Array([0, 1]))
  execFileSync('mkfifo', [at('pipe')])
  const problems: Record<string, string> = {
    folder: 'it is a folder',
    'file/below': 'a part of its path is a file',
    'file/below/it': 'a part of its path is a file',
    pipe: 'it is a named pipe, not a file',
    bin: 'it exists, and you have not read it (read it first)',
    [`new/${'x'.repeat(300)}`]: 'its name is too long for the file system',
  }
  const { say } = fileTools(dir.path)
  for (const [path, problem] of Object.entries(problems))
    assert.equal(await say('write', { path, content: 'y' }), `!Cannot write ${path}: ${problem}`)
  assert.equal(
    await say('write', { path: 'folder/', content: '' }),
    '!Cannot write: path must name a file, not a folder',
  )
})

test('write changes nothing on a full disk, and leaves nothing behind', async () => {
  using disk = mountSmallDisk(256)
  if (!disk) return // the next test limits a process instead, which needs no privileges
  const at = (name: string) => join(disk.path, name)
  await writeFile(at('file'), 'x'.repeat(80_000))
  await link(at('file'), at('second'))
  await writeFile(at('single'), 'y'.repeat(80_000))
  const { say } = fileTools(disk.path)
  const content = 'z'.repeat(200_000)
  for (const path of ['file', 'single']) await say('read', { path })
  for (const path of ['new', 'file', 'single'])
    assert.equal(
      await say('write', { path, content }),
      `!Cannot write ${path}: the disk is full; nothing was changed`,
    )
  assert.equal(await readFile(at('second'), 'utf8'), 'x'.repeat(80_000))
  assert.equal(await readFile(at('single'), 'utf8'), 'y'.repeat(80_000))
  assert.deepEqual((await readdir(disk.path)).toSorted(), ['file', 'second', 'single'])
})

test('write leaves no partial file when the size limit is reached', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await chmod(dir.path, 0o777)
  const at = (name: string) => join(dir.path, name)
  for (const name of ['file', 'single']) {
    await writeFile(at(name), 'old')
    await chmod(at(name), 0o666)
  }
  await link(at('file'), at('second'))
  const content = 'z'.repeat(30_000)
  const answer = await sayElsewhere(
    dir.path,
    [
      ['read', { path: 'file' }],
      ['read', { path: 'single' }],
      ...['new', 'file', 'single'].map((path) => ['write', { path, content }] as const),
    ],
    'ulimit -f 16',
  )
  const failures = answer.slice(2)
  for (const failure of failures) assert.match(failure, /: it would be larger than this system allows$/)
  for (const name of ['file', 'single']) assert.equal(await readFile(at(name), 'utf8'), 'old')
  assert.deepEqual((await readdir(dir.path)).toSorted(), ['file', 'second', 'single'])
})

test('write writes in place where it cannot create a sibling file or the owner would change', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const at = (name: string) => join(dir.path, name)
  for (const [folder, mode] of [
    ['shut', 0o555],
    ['open', 0o777],
  ] as const) {
    await mkdir(at(folder))
    await writeFile(at(`${folder}/file`), 'old')
    await chmod(at(`${folder}/file`), 0o666)
    await chmod(at(folder), mode)
  }
  await writeFile(at('open/locked'), 'old')
  await chmod(at('open/locked'), 0o444)
  await chmod(dir.path, 0o755)
  const before = await Promise.all(['shut/file', 'open/file'].map((path) => stat(at(path))))
  const answer = await sayElsewhere(
    dir.path,
    ['shut/file', 'open/file', 'open/locked', 'shut/new'].flatMap((path) => [
      ['read', { path }],
      ['write', { path, content: 'new' }],
    ]),
  )
  await chmod(at('shut'), 0o755) // else only root can remove its contents
  assert.deepEqual(
    answer.filter((_, index) => index % 2 === 1),
    [
      'Replaced shut/file: 1 line, 3 bytes',
      'Replaced open/file: 1 line, 3 bytes',
      '!Cannot write open/locked: permission denied by the file system',
      '!Cannot write shut/new: permission denied by the file system',
    ],
  )
  for (const [index, path] of ['shut/file', 'open/file'].entries()) {
    const { uid, ino } = await stat(at(path))
    assert.equal(uid, before[index]!.uid)
    if (path === 'shut/file' || process.getuid!() === 0) assert.equal(ino, before[index]!.ino)
    assert.equal(await readFile(at(path), 'utf8'), 'new')
  }
  assert.deepEqual((await readdir(at('open'))).toSorted(), ['file', 'locked'])
})

test('write does nothing when the turn is cancelled', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const { run } = fileTools(dir.path)
  await assert.rejects(run('write', { path: 'a', content: '' }, AbortSignal.abort()), { name: 'AbortError' })
  assert.deepEqual(await readdir(dir.path), [])
})
