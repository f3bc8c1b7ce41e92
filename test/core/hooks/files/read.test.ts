import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtempDisposable, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileTools, sayElsewhere } from '../../../support/file-tools.ts'

const PREFIX = join(tmpdir(), 'crab-')

test('read shows a file by any path that leads to it', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await mkdir(join(dir.path, 'sub', '..hidden'), { recursive: true })
  await writeFile(join(dir.path, 'sub', '..hidden', 'a b'), 'here\n')
  await symlink('sub/..hidden/a b', join(dir.path, 'link'))
  await symlink(join(dir.path, 'sub'), join(dir.path, 'folder'))
  const tools = fileTools(dir.path, { homeDir: join(dir.path, 'sub') })
  const whole = join(dir.path, 'sub', '..hidden', 'a b')
  const paths = [
    'sub/..hidden/a b',
    './sub/../sub/..hidden/a b',
    'link',
    'folder/..hidden/a b',
    whole,
    '~/..hidden/a b',
  ]
  for (const path of paths) assert.equal(await tools.say('read', { path }), 'here')
  assert.deepEqual([...tools.files.keys()], [whole])
})

test('read returns the requested lines, and says when the file has no such lines', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await writeFile(join(dir.path, 'file'), 'a\nb\nc\n')
  const { say } = fileTools(dir.path)
  assert.equal(await say('read', { file_path: 'file', offset: '2', limit: 1 }), 'b\n[lines 2-2 of 3]')
  assert.equal(
    await say('read', { path: 'file', offset: 4 }),
    '!Cannot read file: it has 3 lines; offset 4 is past the end',
  )
})

test('read shows texts with a byte order mark, in UTF-8 and UTF-16', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const { say } = fileTools(dir.path)
  const little = Buffer.from('\ufeffé\n', 'utf16le')
  for (const bytes of [Buffer.from('\ufeffé\n'), little, Buffer.from(little).swap16()]) {
    await writeFile(join(dir.path, 'file'), bytes)
    assert.equal(await say('read', { path: 'file' }), 'é')
  }
})

const IMAGES: Record<string, Buffer> = {
  'image/png': Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  'image/jpeg': Buffer.from('ffd8ffe000104a46494600', 'hex'),
  'image/gif': Buffer.from('474946383961010001000000', 'hex'),
  'image/webp': Buffer.from('524946461a0000005745425056503820', 'hex'),
}
for (const [type, bytes] of Object.entries(IMAGES)) {
  test(`read attaches ${type}, whatever the file's name`, async () => {
    await using dir = await mkdtempDisposable(PREFIX)
    await writeFile(join(dir.path, 'file.txt'), bytes)
    assert.deepEqual(await fileTools(dir.path).run('read', { path: 'file.txt' }), {
      output: `[${type}, ${bytes.length} bytes]`,
      isError: false,
      attachments: [{ media_type: type, data: bytes.toString('base64'), name: 'file.txt' }],
    })
  })
}

test('read treats a text that begins like an image as text', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await writeFile(join(dir.path, 'file'), 'GIF89a is a format\n')
  assert.equal(await fileTools(dir.path).say('read', { path: 'file' }), 'GIF89a is a format')
})

test('read rejects an image that providers reject', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const path = join(dir.path, 'file')
  await writeFile(path, IMAGES['image/png']!)
  await truncate(path, 3_750_000)
  const { run, say, files } = fileTools(dir.path)
  assert.equal((await run('read', { path })).attachments?.[0]?.data.length, 5_000_000)
  files.clear()
  await truncate(path, 3_750_001)
  assert.equal(
    await say('read', { path: 'file' }),
    '!Cannot read file: the image has 3750001 bytes; the limit is 3750000 (make a smaller copy of it with bash)',
  )
  assert.equal(files.size, 0)
})

test('read says what else a path is', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const at = (name: string) => join(dir.path, name)
  await mkdir(at('folder/sub'), { recursive: true })
  for (const name of ['folder/b', 'folder/a,\n', 'notes.md']) await writeFile(at(name), '')
  await mkdir(at('empty'))
  await writeFile(at('bin'), new Uint8Array([0x7f, 0x45, 0, 1]))
  await writeFile(at('latin'), new Uint8Array([0x61, 0xe9]))
  await writeFile(at('big'), '')
  await truncate(at('big'), 100 * 1024 * 1024)
  await symlink('loop', at('loop'))
  await symlink('nowhere', at('dangling'))
  execFileSync('mkfifo', [at('pipe')])
  await using socket = createServer().listen(at('socket'))
  await new Promise((resolve) => socket.once('listening', resolve))
  const problems: Record<string, string> = {
    none: 'the file does not exist',
    'note.md': 'the file does not exist (did you mean "notes.md"?)',
    'emtpy/x': 'the file does not exist (the folder "emtpy" does not exist: did you mean "empty"?)',
    'zzz/y/x': 'the file does not exist (the folder "zzz" does not exist)',
    dangling: 'the file does not exist',
    'bin/below': 'a part of its path is a file',
    folder: 'it is a folder (it holds "a,\\n", b, sub/)',
    empty: 'it is a folder (it is empty)',
    bin: 'it is a binary file of 4 bytes',
    latin: 'it is a binary file of 2 bytes',
    big: 'it has 104857600 bytes; the limit is 67108864 (search it with grep, or take a part of it with bash)',
    pipe: 'it is a named pipe, not a file',
    socket: 'it is a socket, not a file',
    '/dev/null': 'it is a device, not a file',
  }
  const { say, files } = fileTools(dir.path)
  for (const [path, problem] of Object.entries(problems))
    assert.equal(await say('read', { path }), `!Cannot read ${path}: ${problem}`)
  for (const path of ['loop', 'x'.repeat(300)])
    assert.match(await say('read', { path }), /^!Cannot use the path "(loop|x+)": /)
  assert.equal(files.size, 0)
})

test('read lists the first names of a large folder', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  for (let index = 10; index < 50; index++) await writeFile(join(dir.path, `file-${index}`), '')
  const answer = await fileTools(dir.path).say('read', { path: '.' })
  assert.match(answer, /^!Cannot read \.: it is a folder \(it holds file-10, .*, file-39 and 10 more\)$/)
})

test('names that a rule or this program hides from the model are not shown or suggested', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const at = (name: string) => join(dir.path, name)
  for (const folder of ['a', 'hidden']) await mkdir(at(folder))
  for (const name of ['a/secret', 'a/shown', 'a/config', 'hidden/secret']) await writeFile(at(name), '')
  const mayShow = (path: string) => !path.endsWith('secret')
  const { say } = fileTools(dir.path, { closed: [at('a/config')], mayShow })
  assert.equal(await say('read', { path: 'a' }), '!Cannot read a: it is a folder (it holds shown)')
  assert.equal(await say('read', { path: 'hidden' }), '!Cannot read hidden: it is a folder')
  for (const path of ['a/secrte', 'a/confgi', 'hidden/secrets'])
    assert.equal(await say('read', { path }), `!Cannot read ${path}: the file does not exist`)
  const edits = [{ old: 'a', new: 'b' }]
  assert.doesNotMatch(await say('edit', { path: 'a/secrte', edits }), /secret/)
  const below = '!Cannot read a/secrte/x: the file does not exist (the folder "secrte" does not exist)'
  assert.equal(await say('read', { path: 'a/secrte/x' }), below)
})

test('read reads kernel files whose size is 0', async () => {
  const answer = await fileTools('/').say('read', { path: `/proc/${process.ppid}/status`, limit: 1 })
  assert.match(answer, /^Name:\t.*\n\[lines 1-1 of \d+\]$/)
})

test('read reports errors of the file system', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await mkdir(join(dir.path, 'shut'))
  for (const [path, mode] of [
    ['file', 0],
    ['shut/file', 0o644],
    ['open', 0o644],
  ] as const) {
    await writeFile(join(dir.path, path), 'text\n')
    await chmod(join(dir.path, path), mode)
  }
  await chmod(join(dir.path, 'shut'), 0)
  await chmod(dir.path, 0o711) // may be entered, but not listed
  const answer = await sayElsewhere(
    dir.path,
    ['file', 'shut/file', 'open'].map((path) => ['read', { path }]),
  )
  await chmod(join(dir.path, 'shut'), 0o755) // else only root can remove it
  await chmod(dir.path, 0o755)
  assert.equal(answer[0], '!Cannot read file: permission denied by the file system')
  assert.match(answer[1]!, /^!.*permission denied/)
  assert.equal(answer[2], 'text')
})

test('read stops when the turn is cancelled', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await writeFile(join(dir.path, 'file'), 'a\n')
  await assert.rejects(fileTools(dir.path).run('read', { path: 'file' }, AbortSignal.abort()), {
    name: 'AbortError',
  })
})

test('read finds a name whose accents have other code points', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const [composed, apart] = ['é.txt'.normalize('NFC'), 'é.txt'.normalize('NFD')]
  await mkdir(join(dir.path, `ö${apart}`.normalize('NFD')))
  await writeFile(join(dir.path, `ö${apart}`.normalize('NFD'), apart), 'apart\n')
  const { say } = fileTools(dir.path)
  assert.equal(await say('read', { path: `ö${composed}/${composed}` }), 'apart')
  await writeFile(join(dir.path, composed), 'composed\n')
  assert.equal(await say('read', { path: apart }), 'composed')
  await writeFile(join(dir.path, apart), 'apart\n')
  assert.equal(await say('read', { path: composed }), 'composed')
  assert.equal(await say('read', { path: apart }), 'apart')
})

test('read says that it cannot open a name that is not UTF-8, and how bash can', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const name = Buffer.concat([Buffer.from(join(dir.path, 'caf')), Buffer.from([0xe9]), Buffer.from('.txt')])
  const isMade = await writeFile(name, 'hello').then(
    () => true,
    () => false, // disks of macOS have no such names
  )
  const { say } = fileTools(dir.path)
  const answer = await say('read', { path: 'caf\ufffd.txt' })
  assert.match(answer, /^!Cannot read caf\ufffd\.txt: the file does not exist/)
  assert.equal(answer.includes('is not UTF-8'), isMade, answer)
  assert.doesNotMatch(answer, /did you mean/)
})
