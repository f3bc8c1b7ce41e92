import assert from 'node:assert/strict'
import { once } from 'node:events'
import { access, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import manifest from '../../package.json' with { type: 'json' }
import { makeHome } from '../../scripts/sea/scenarios.ts'
import { startModelServer } from '../support/model-server.ts'
import { BINARY, makeSandbox } from '../support/run-binary.ts'

const OK = { stderr: '', code: 0, signal: null }

for (const argument of ['--version', '-V', 'version']) {
  test(`${argument} prints the name the program was started as, and the version`, async () => {
    await using box = await makeSandbox()
    for (const program of ['crabtalk', 'crabup'] as const) {
      const { stdoutBytes: _, ...said } = await box.run([argument], { program })
      assert.deepEqual(said, { ...OK, stdout: `${program} ${manifest.version}\n` })
    }
  })
}

test('version rejects unknown options', async () => {
  await using box = await makeSandbox()
  const { stdout, stderr, code } = await box.run(['version', '--verison'])
  assert.deepEqual([stdout, code], ['', 2])
  assert.match(stderr, /^crabtalk: error\[usage\]: /)
})

test('--version prints no error when its output is closed', async () => {
  await using box = await makeSandbox()
  const { stderr } = await box.shell('crabtalk --version | true; crabtalk --version >&-')
  assert.equal(stderr, '')
})

test('help lists the commands of the program it was started as', async () => {
  await using box = await makeSandbox()
  for (const args of [[], ['help'], ['--help'], ['-h']]) {
    const { stdout, stderr, code } = await box.run(args)
    assert.deepEqual([stderr, code], ['', 0])
    assert.match(stdout, /^Usage: crabtalk /)
    assert.match(stdout, /^ {2}send /m)
  }
  const { stdout } = await box.run(['help'], { program: 'crabup' })
  assert.match(stdout, /^Usage: crabup /)
  assert.doesNotMatch(stdout, /^ {2}send /m)
})

test('an unknown command exits 2 and suggests the nearest one', async () => {
  await using box = await makeSandbox()
  const { stdout, stderr, code } = await box.run(['sned', 'hello'])
  assert.deepEqual([stdout, code], ['', 2])
  assert.match(stderr, /^crabtalk: error\[usage\]: .*sned.*\nhint: .*send.*\n$/)
})

test('ignores the environment variables of Node', async () => {
  await using box = await makeSandbox()
  const env = { NODE_OPTIONS: '--no-such-option', NODE_NO_WARNINGS: '0', NODE_PENDING_DEPRECATION: '1' }
  const { stdout, stderr, code } = await box.run(['help'], { env: BINARY.endsWith('.ts') ? {} : env })
  assert.deepEqual([stderr, code], ['', 0])
  assert.match(stdout, /^Usage: crabtalk /)
})

test('Node does not read its own options after a command', async () => {
  await using box = await makeSandbox()
  const { stderr, code } = await box.run(['help', '--inspect-brk'])
  assert.doesNotMatch(stderr, /Debugger/)
  assert.equal(code, 0)
  const unknown = await box.run(['help', '--env-file', 'none'])
  assert.match(unknown.stderr, /^$|^crabtalk: error\[usage\]/)
  assert.notEqual(unknown.code, 9, 'Node looked for that file')
})

test('help works when the working directory was removed', async () => {
  await using box = await makeSandbox()
  const { stdout, code } = await box.shell('mkdir gone; cd gone; rmdir ../gone; crabtalk help')
  assert.match(stdout, /^Usage: crabtalk /)
  assert.equal(code, 0)
})

test('help prints the same on a terminal and in a pipe', async () => {
  await using box = await makeSandbox()
  const terminal = box.terminal(['help'], { columns: 200 })
  assert.deepEqual(await terminal.finished, { code: 0, signal: 0 })
  assert.equal(terminal.output().replaceAll('\r\n', '\n'), (await box.run(['help'])).stdout)
})

test('help and version do not touch the home directory', async () => {
  await using box = await makeSandbox()
  await box.run(['help'])
  await box.run(['--version'])
  await assert.rejects(access(box.home), { code: 'ENOENT' })
})

if (!BINARY.endsWith('.ts')) {
  test("the process has the name of the program and ignores SIGUSR1, which opens Node's debugger", async () => {
    await using box = await makeSandbox()
    const goOn = Promise.withResolvers<void>()
    await using model = await startModelServer(() => ({ parts: ['Hi', goOn.promise, ' there'] }))
    const env = await makeHome(box.home, model.url)
    const { child, finished } = box.start(['send', '--model', 'loopback-openai', 'say hi'], { env })
    await once(child.stdout, 'data')
    assert.equal(await readFile(`/proc/${child.pid}/comm`, 'utf8'), 'crabtalk\n')
    child.kill('SIGUSR1')
    goOn.resolve()
    const { stderr, code } = await finished
    assert.deepEqual({ stderr, code }, { stderr: '', code: 0 })
  })

  test('the binary contains no path of the machine it was built on', async () => {
    const binary = await readFile(BINARY)
    assert.equal(binary.indexOf(join(dirname(BINARY), 'build')), -1)
  })
}
