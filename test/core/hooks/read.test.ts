import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtempDisposable, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Validator } from '@cfworker/json-schema'
import fc from 'fast-check'
import { readHook } from '../../../src/core/hooks/read.ts'
import type { ToolOutput } from '../../../src/core/runtime/hook.ts'
import { AGENT } from '../../support/agents.ts'

const NEVER = new AbortController().signal
const PREFIX = join(tmpdir(), 'crab-')

const FILES: Record<string, { content: string | Uint8Array; args?: object; output: string }> = {
  'a whole file without a note': { content: 'one\ntwo\n', output: 'one\ntwo' },
  'a last line without its newline': { content: 'one\ntwo', output: 'one\ntwo' },
  'an empty file': { content: '', output: '[The file is empty.]' },
  'an empty file from any line': { content: '', args: { offset: 7 }, output: '[The file is empty.]' },
  'a file of one empty line': { content: '\n', output: '' },
  'empty lines at the end': { content: 'a\n\n\n', output: 'a\n\n' },
  'carriage returns as they are': { content: 'one\r\ntwo\r\n', output: 'one\r\ntwo\r' },
  'every script': { content: '日本語\n👩‍👩‍👧 é\n', output: '日本語\n👩‍👩‍👧 é' },
  'bytes that are no UTF-8 as such': { content: Buffer.from([0x61, 0xff, 0x62]), output: 'a\ufffdb' },
  'from a line': { content: 'a\nb\nc\n', args: { offset: 2 }, output: 'b\nc\n[lines 2-3 of 3]' },
  'as many lines as asked': { content: 'a\nb\nc\n', args: { limit: 2 }, output: 'a\nb\n[lines 1-2 of 3]' },
  'a part in the middle': {
    content: 'a\nb\nc\n',
    args: { offset: 2, limit: 1 },
    output: 'b\n[lines 2-2 of 3]',
  },
  'all of it for a limit above its length': { content: 'a\nb\n', args: { limit: 99 }, output: 'a\nb' },
}

for (const [what, { content, args, output }] of Object.entries(FILES)) {
  test(`read gives ${what}`, async () => {
    await using dir = await mkdtempDisposable(PREFIX)
    await writeFile(join(dir.path, 'file'), content)
    assert.deepEqual(await read(dir.path, { path: 'file', ...args }), { output, isError: false })
  })
}

test('read tells the model where to go on, so that the parts make up the file', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const path = join(dir.path, 'file')
  const line = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.integer({ min: 0, max: 60_000 }).map((n) => 'x'.repeat(n)),
  )
  const texts = fc.array(
    line.map((text) => text.replaceAll(/[\n\0]/g, ' ')),
    { minLength: 1, maxLength: 2_500 },
  )
  await fc.assert(
    fc.asyncProperty(texts, async (lines) => {
      await writeFile(path, `${lines.join('\n')}\n`)
      const got: string[] = []
      for (let offset = 1; offset <= lines.length; ) {
        const { output } = await read(dir.path, { path: 'file', offset })
        const note = /\n\[lines (\d+)-(\d+) of (\d+)(, a long line was cut)?\]$/.exec(output)
        const part = note ? output.slice(0, note.index) : output
        assert.ok(part.length <= 50_000)
        got.push(...part.split('\n'))
        if (note) assert.deepEqual([Number(note[1]), Number(note[3])], [offset, lines.length])
        offset = note ? Number(note[2]) + 1 : lines.length + 1
      }
      assert.deepEqual(
        got,
        lines.map((text) => text.slice(0, 50_000)),
      )
    }),
    { numRuns: 20 },
  )
})

test('read cuts a line that alone is too long, never inside a character', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await writeFile(join(dir.path, 'file'), `x${'🦀'.repeat(40_000)}\nnext`)
  const { output } = await read(dir.path, { path: 'file' })
  assert.match(output, /\n\[lines 1-1 of 2, a long line was cut\]$/)
  assert.ok(output.isWellFormed())
  assert.ok(output.length > 49_990)
})

test('read gives 50,000 characters, and not one more', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const file = async (...lengths: number[]) => {
    await writeFile(join(dir.path, 'file'), lengths.map((length) => 'x'.repeat(length)).join('\n'))
    return (await read(dir.path, { path: 'file' })).output.replace(/x+/g, (xs) => String(xs.length))
  }
  assert.equal(await file(50_000), '50000')
  assert.equal(await file(50_001), '50000\n[lines 1-1 of 1, a long line was cut]')
  assert.equal(await file(20_000, 29_999), '20000\n29999')
  assert.equal(await file(20_000, 30_000), '20000\n[lines 1-1 of 2]')
})

test('read gives at most 2000 lines whatever is asked', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await writeFile(join(dir.path, 'file'), 'x\n'.repeat(3_000))
  const { output } = await read(dir.path, { path: 'file', limit: 5_000 })
  assert.match(output, /\n\[lines 1-2000 of 3000\]$/)
})

test('read takes any path that leads to a file in the directory', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await mkdir(join(dir.path, 'sub', '..hidden'), { recursive: true })
  await writeFile(join(dir.path, 'sub', '..hidden', 'a b'), 'here')
  await symlink('sub/..hidden/a b', join(dir.path, 'link'))
  await symlink(join(dir.path, 'sub'), join(dir.path, 'folder'))
  const whole = join(dir.path, 'sub', '..hidden', 'a b')
  for (const path of [
    'sub/..hidden/a b',
    './sub/../sub/..hidden/a b',
    'link',
    'folder/..hidden/a b',
    whole,
  ]) {
    assert.equal((await read(dir.path, { path })).output, 'here')
  }
  await using other = await mkdtempDisposable(PREFIX)
  await symlink(dir.path, join(other.path, 'work'))
  assert.equal((await read(join(other.path, 'work'), { path: 'link' })).output, 'here')
})

test('read refuses what lies outside the directory, however it is named', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const work = join(dir.path, 'work')
  await mkdir(work)
  await mkdir(join(dir.path, 'work-2'))
  await writeFile(join(dir.path, 'work-2', 'secret'), 'secret')
  await writeFile(join(dir.path, 'secret'), 'secret')
  await symlink('../secret', join(work, 'link'))
  await symlink('..', join(work, 'up'))
  const paths = ['../secret', 'link', 'up/secret', '../work-2/secret', join(dir.path, 'secret'), '..', '/']
  for (const path of paths) {
    const output = `Cannot read ${path}: it is outside the working directory ${work}`
    assert.deepEqual(await read(work, { path }), { output, isError: true })
  }
})

test('read says what else a path may be', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await mkdir(join(dir.path, 'folder'))
  await writeFile(join(dir.path, 'bin'), new Uint8Array([0x7f, 0x45, 0, 1]))
  await writeFile(join(dir.path, 'big'), '')
  await truncate(join(dir.path, 'big'), 64 * 1024 * 1024 + 1)
  await symlink('loop', join(dir.path, 'loop'))
  execFileSync('mkfifo', [join(dir.path, 'pipe')])
  const socket = createServer().listen(join(dir.path, 'socket'))
  await new Promise((resolve) => socket.once('listening', resolve))
  const problems: Record<string, RegExp> = {
    none: /^Cannot read none: there is no such file$/,
    'none/below': /there is no such file$/,
    'bin/below': /ENOTDIR/,
    folder: /^Cannot read folder: it is a directory$/,
    '.': /it is a directory$/,
    bin: /it is a binary file of 4 bytes$/,
    big: /it has 67108865 bytes; the limit is 67108864$/,
    pipe: /it is not a regular file$/,
    socket: /^Cannot read socket: /,
    loop: /ELOOP/,
    'nul\0': /^Cannot read nul\0: /,
  }
  for (const [path, problem] of Object.entries(problems)) {
    const { output, isError } = await read(dir.path, { path })
    assert.equal(isError, true, path)
    assert.match(output, problem)
  }
  socket.close()
})

test('read says what is wrong with its arguments', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await writeFile(join(dir.path, 'file'), 'a\n')
  const bad = [
    {},
    { path: '' },
    { path: 7 },
    ...[0, -1, 1.5, '2', Number.NaN].map((offset) => ({ path: 'file', offset })),
  ]
  for (const args of bad) {
    const { output, isError } = await read(dir.path, args)
    assert.equal(isError, true, JSON.stringify(args))
    assert.match(
      output,
      /^Cannot read: (path must be a string|offset and limit must be whole numbers from 1)$/,
    )
  }
  assert.deepEqual(await read(dir.path, { path: 'file', offset: 2 }), {
    output: 'Cannot read from line 2: the file has 1 lines',
    isError: true,
  })
})

test('read takes an argument that is null for one that is not there, as some models mean it', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await writeFile(join(dir.path, 'file'), 'a\n')
  assert.equal((await read(dir.path, { path: 'file', offset: null, limit: null })).output, 'a')
})

test('read stops when the turn is cancelled', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await writeFile(join(dir.path, 'file'), 'a\n')
  await assert.rejects(read(dir.path, { path: 'file' }, AbortSignal.abort()), { name: 'AbortError' })
})

test('read refuses what is closed, however it is named, and only that', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await mkdir(join(dir.path, 'home', 'run'), { recursive: true })
  for (const file of ['home/config.toml', 'home/config.toml.md', 'home/run/leases.db'])
    await writeFile(join(dir.path, file), 'text')
  await symlink('home', join(dir.path, 'link'))
  const closed = ['link/run', 'home/config.toml', 'home/vault'].map((place) => join(dir.path, place))
  for (const path of [
    'home/config.toml',
    'link/config.toml',
    'home/run/leases.db',
    'link/run',
    'home/run/',
  ]) {
    const output = `Cannot read ${path}: it is one of crabtalk's own files`
    assert.deepEqual(await read(dir.path, { path }, NEVER, closed), { output, isError: true })
  }
  assert.equal((await read(dir.path, { path: 'home/config.toml.md' }, NEVER, closed)).output, 'text')
})

test('readHook() owns read and nothing else, and tells the model what it takes', () => {
  const hook = readHook({ closed: [] })
  const [spec, ...more] = hook.schema?.() ?? []
  assert.deepEqual([spec?.name, more], ['read', []])
  const accepts = (args: object) => new Validator(spec!.parameters, '2020-12').validate(args).valid
  for (const args of [{ path: 'x' }, { path: 'x', offset: 1, limit: 9 }]) assert.ok(accepts(args))
  for (const args of [{}, { path: 1 }, { path: 'x', offset: 0 }, { path: 'x', limit: '9' }]) {
    assert.ok(!accepts(args))
  }
  assert.equal(hook.dispatch?.('write', dispatchOf('/', {}), NEVER), undefined)
})

async function read(cwd: string, args: object, signal = NEVER, closed: string[] = []): Promise<ToolOutput> {
  return (await readHook({ closed }).dispatch?.('read', dispatchOf(cwd, args), signal))!
}

function dispatchOf(cwd: string, args: object) {
  return { callId: 'a', args: { ...args }, agent: AGENT, sender: 'ann', session: 's', cwd, env: {} }
}
