import assert from 'node:assert/strict'
import { link, mkdir, mkdtempDisposable, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Validator } from '@cfworker/json-schema'
import { fileHook } from '../../../../src/core/hooks/files/file-hook.ts'
import type { PolicyAction } from '../../../../src/core/policy/types.ts'
import { AGENT } from '../../../support/agents.ts'
import { fileTools } from '../../../support/file-tools.ts'

const PREFIX = join(tmpdir(), 'crab-')
const lock = async () => ({ [Symbol.asyncDispose]: async () => undefined })

test('fileHook() owns read, write and edit, and adds at most 900 bytes to every request', async () => {
  const hook = fileHook({ closed: [], homeDir: '', lock })
  const tell = () => undefined
  const tools = await hook.schema!(AGENT, { emit: tell, signal: new AbortController().signal })
  assert.deepEqual(
    tools.map(({ name, readOnly = false }) => [name, readOnly]),
    [
      ['read', true],
      ['write', false],
      ['edit', false],
    ],
  )
  const sent = tools.map(({ name, description, parameters }) => ({ name, description, parameters }))
  assert.ok(Buffer.byteLength(JSON.stringify(sent)) <= 900)
  const accepts = (at: number, args: object) =>
    new Validator(tools[at]!.parameters, '2020-12').validate(args).valid
  assert.ok(accepts(0, { path: 'x' }) && accepts(0, { path: 'x', offset: 1, limit: 9 }))
  assert.ok(!accepts(0, {}) && !accepts(0, { path: 'x', offset: '1' }))
  assert.ok(accepts(1, { path: 'x', content: '' }) && !accepts(1, { path: 'x' }))
  assert.ok(accepts(2, { path: 'x', edits: [{ old: 'a', new: 'b', all: true }] }))
  assert.ok(!accepts(2, { path: 'x', edits: [{ old: 'a' }] }))
  assert.equal(hook.describe?.('bash', { args: {}, agent: AGENT, cwd: '/' }), undefined)
})

test('describe() returns the file of a call, and rejects invalid arguments before asking', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await mkdir(join(dir.path, 'real'))
  await symlink('real', join(dir.path, 'link'))
  const { describe } = fileTools(dir.path)
  const path = join(dir.path, 'real', 'new')
  assert.deepEqual(await describe('read', { path: 'link/new' }), { kind: 'read', path, shown: 'link/new' })
  const { diff, ...write } = (await describe('write', { path: 'link/new', content: 'a' })) as Edit
  assert.deepEqual(write, { kind: 'edit', path, shown: 'link/new' })
  assert.equal(typeof diff, 'function')
  const bad: [string, object][] = [
    ['read', { path: 'x', offset: -1 }],
    ['write', { path: 'x' }],
    ['edit', { path: 'x', edits: [] }],
    ['edit', { edits: [{ old: 'a', new: 'b' }] }],
  ]
  for (const [name, args] of bad) await assert.rejects(describe(name, args), { kind: 'invalid' })
})

type Edit = Extract<PolicyAction, { kind: 'edit' }>

async function readDiff(
  cwd: string,
  name: string,
  args: object,
  seen?: Map<string, string>,
): Promise<string> {
  return ((await fileTools(cwd).describe(name, args)) as Edit).diff!(seen)
}

test('diff() shows what a call would do, and does nothing', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await writeFile(join(dir.path, 'file'), '1\n2\n3\n4\n5\n6\n')
  const header = '--- file\n+++ file\n'
  assert.equal(
    await readDiff(dir.path, 'edit', { path: 'file', edits: [{ old: '5\n', new: '' }] }),
    `${header}@@ -2,5 +2,4 @@\n 2\n 3\n 4\n-5\n 6\n`,
  )
  assert.equal(
    await readDiff(dir.path, 'write', { path: 'file', content: '1\nx' }),
    `${header}@@ -1,6 +1,2 @@\n 1\n-2\n-3\n-4\n-5\n-6\n+x\n\\ No newline at end of file\n`,
  )
  assert.equal(
    await readDiff(dir.path, 'write', { path: 'sub/new', content: 'a\n' }),
    '--- sub/new\n+++ sub/new\n@@ -0,0 +1,1 @@\n+a\n',
  )
  assert.deepEqual(await readdir(dir.path), ['file'])
})

test('diff() fails like the call, and summarizes large changes in numbers', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  await writeFile(join(dir.path, 'file'), 'a\n'.repeat(30_000))
  const edits = [{ old: 'b', new: 'c' }]
  const unread = { kind: 'conflict', message: /you have not read it$/ }
  await assert.rejects(readDiff(dir.path, 'edit', { path: 'file', edits }), { message: /old does not occur/ })
  await assert.rejects(readDiff(dir.path, 'edit', { path: 'none', edits }), { kind: 'missing' })
  await assert.rejects(readDiff(dir.path, 'edit', { path: 'file', edits }, new Map()), unread)
  await assert.rejects(readDiff(dir.path, 'write', { path: 'file', content: '' }, new Map()), unread)
  assert.match(await readDiff(dir.path, 'write', { path: 'new', content: 'a' }, new Map()), /^\+a$/m)
  const different = Array.from({ length: 30_000 }, (_, index) => `${index}\n`).join('')
  assert.equal(
    await readDiff(dir.path, 'write', { path: 'file', content: different }),
    `file: 60000 characters become ${different.length}\n`,
  )
  const long = await readDiff(dir.path, 'write', { path: 'new', content: 'line\n'.repeat(10_000) })
  assert.match(long, /\+line\n\[… \d+ more characters\]\n$/)
  assert.ok(long.length < 20_100)
})

test('no tool opens a protected file, by any name', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const at = (name: string) => join(dir.path, name)
  await mkdir(at('home/run/proc'), { recursive: true })
  for (const file of ['home/config.toml', 'home/config.toml.md', 'home/run/proc/01J'])
    await writeFile(at(file), 'text\n')
  await symlink('home', at('link'))
  await link(at('home/run/proc/01J'), at('hard'))
  await link(at('home/config.toml'), at('harder'))
  await writeFile(at('one'), 'mine\n')
  await link(at('one'), at('two'))
  const closed = ['link/run', 'home/config.toml', 'home/vault'].map(at)
  const { run, say, describe, files } = fileTools(dir.path, { closed })
  const paths = [
    ...[
      'home/config.toml',
      'link/config.toml',
      'home/Config.toml',
      'home/run/proc/01J',
      'link/run',
      'home/run/',
    ],
    ...['home/run/new', 'home/vault', 'home/VAULT/new', 'hard', 'harder'],
  ]
  for (const path of paths) {
    const output = `: it is one of crabtalk's own files`
    assert.deepEqual(await run('read', { path }), { output: `Cannot read ${path}${output}`, isError: true })
    const edits = [{ old: 'text', new: 'x' }]
    assert.equal(await say('edit', { path, edits }), `!Cannot edit ${path}${output}`)
    if (!path.endsWith('/'))
      assert.equal(await say('write', { path, content: 'x' }), `!Cannot write ${path}${output}`)
  }
  await assert.rejects(
    describe('read', { path: 'hard' }).then(() => describe('read', { path: 'link/run' })),
    {
      kind: 'denied',
    },
  )
  assert.equal(files.size, 0)
  assert.equal(await readFile(at('home/config.toml'), 'utf8'), 'text\n')
  assert.equal(await say('read', { path: 'home/config.toml.md' }), 'text')
  assert.equal(await say('read', { path: 'two' }), 'mine')
  const meanwhile = () => symlink('config.toml.md', at('home/vault'))
  const late = fileTools(dir.path, { closed, meanwhile })
  assert.match(await late.say('read', { path: 'home/config.toml.md' }), /one of crabtalk's own files$/)
})

test("no tool opens the kernel's files about this process", async () => {
  const { say } = fileTools('/')
  const [thread] = (await readdir('/proc/self/task')).filter((id) => +id !== process.pid)
  const paths = [
    ...['/proc/self/environ', '/proc/thread-self/environ', `/proc/${process.pid}/mem`],
    `/proc/${thread}/environ`, // of the same process, by a name that no listing shows
  ]
  for (const path of paths)
    assert.equal(await say('read', { path }), `!Cannot read ${path}: it is one of crabtalk's own files`)
})

test('the tools work the same on a system without links to open files', async () => {
  await using dir = await mkdtempDisposable(PREFIX)
  const { say } = fileTools(dir.path, { fdLinks: '/nowhere' })
  assert.match(await say('write', { path: 'a/b/c', content: 'one\n' }), /^Created/)
  assert.match(await say('edit', { path: 'a/b/c', edits: [{ old: 'one', new: 'two' }] }), /^Edited/)
  assert.equal(await say('read', { path: 'a/b/c' }), 'two')
  assert.deepEqual(await readdir(join(dir.path, 'a/b')), ['c'])
})
