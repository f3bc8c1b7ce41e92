import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFile, cp, mkdir, mkdtempDisposable, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../../..')
const PROTO = 'proto/crabtalk.proto'
const BUF = 'node_modules/@bufbuild/buf'
const CODEC = 'src/core/protocol/crabtalk.generated.ts'

test('the generated codec in this tree is current', async () => {
  await run(ROOT, '--check')
})

test('generate-proto --check fails on an outdated codec and names the command that updates it', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await makeTree(dir.path)
  await appendFile(join(dir.path, PROTO), '\n// Later.\nmessage Later {\n  string word = 1;\n}\n')
  await assert.rejects(run(dir.path, '--check'), {
    code: 1,
    stdout: '',
    stderr: `${CODEC} does not match ${PROTO}: run npm run proto\n`,
  })
  await run(dir.path)
  assert.match(await readFile(join(dir.path, CODEC), 'utf8'), /export const Later: MessageFns<Later>/)
  await run(dir.path, '--check')
})

test('generate-proto --check fails on an unformatted proto file, and generate-proto formats it', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await makeTree(dir.path)
  const proto = await readFile(join(dir.path, PROTO), 'utf8')
  await writeFile(join(dir.path, PROTO), proto.replace('message Pong {}', 'message   Pong { }'))
  await assert.rejects(run(dir.path, '--check'), {
    code: 1,
    stderr: `${PROTO} is not formatted: run npm run proto\n`,
  })
  await run(dir.path)
  assert.equal(await readFile(join(dir.path, PROTO), 'utf8'), proto)
})

test('generate-proto says what is wrong with a proto file that does not compile, or has no comments', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await makeTree(dir.path)
  const proto = await readFile(join(dir.path, PROTO), 'utf8')
  await writeFile(join(dir.path, PROTO), `${proto}\nmessage Silent {}\n`)
  await assert.rejects(run(dir.path), { code: 1, stderr: /"Silent" should have a non-empty comment/ })
  await writeFile(join(dir.path, PROTO), `${proto}\n// Odd.\nmessage Odd {\n  Missing missing = 1;\n}\n`)
  await assert.rejects(run(dir.path), { code: 1, stderr: /crabtalk\.proto:\d+:\d+:.*Missing/ })
})

test('generate-proto says so when the platform package of buf is missing', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await makeTree(dir.path, copy) // a linked package would still find its neighbor
  await assert.rejects(run(dir.path, '--check'), {
    code: 1,
    stderr: /its package for this platform is missing; run npm ci/,
  })
})

/** Creates a folder with the inputs and the tools of generate-proto. */
async function makeTree(dir: string, placeBuf = link): Promise<void> {
  for (const path of ['package.json', 'buf.yaml', 'scripts/generate-proto.ts', PROTO, CODEC]) {
    await cp(join(ROOT, path), join(dir, path))
  }
  await mkdir(join(dir, 'node_modules/@bufbuild'), { recursive: true })
  await link(join(ROOT, 'node_modules/ts-proto'), join(dir, 'node_modules/ts-proto'))
  await placeBuf(join(ROOT, BUF), join(dir, BUF))
}

async function link(from: string, path: string): Promise<void> {
  await symlink(from, path, 'junction')
}

async function copy(from: string, path: string): Promise<void> {
  await cp(from, path, { recursive: true })
}

async function run(root: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [join(root, 'scripts/generate-proto.ts'), ...args])
}
