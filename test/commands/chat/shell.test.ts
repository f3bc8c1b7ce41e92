import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runLocalShell } from '../../../src/core/hooks/bash/user-shell.ts'
import { livingWith } from '../../support/orphans.ts'
import { openTestHost } from '../../support/process-platforms.ts'
import { until } from '../../support/until.ts'

const NEVER = new AbortController().signal

test('runLocalShell() returns both streams in order of arrival, without colors, and the exit code', async () => {
  await using box = await openBox()
  assert.deepEqual(await box.run(`echo one; printf '\\033[31mtwo\\033[0m\\n' >&2; echo $COLUMNS; exit 3`), {
    output: 'one\ntwo\n100\n',
    exitCode: 3,
  })
  assert.deepEqual(await box.run('kill -TERM $$'), { output: '', exitCode: 143 })
  assert.equal((await box.run('pwd -P')).output.trim().split('/').at(-1), box.path.split('/').at(-1))
})

test('runLocalShell() writes the middle of a long output to a file', async () => {
  await using box = await openBox()
  const { output } = await box.run('seq 100000')
  assert.match(output, /^1\n2\n[\s\S]*bytes are left out here; the whole output is in [\s\S]*\n100000\n$/)
  assert.equal((await readdir(join(box.path, 'spill'))).length, 1)
})

test('runLocalShell() ends when its signal is aborted, and leaves no process', async () => {
  await using box = await openBox()
  const stop = new AbortController()
  const running = box.run('sleep 600 & echo ready > "$PWD/ready"; wait', stop.signal)
  await until('it runs', async () => (await readdir(box.path)).includes('ready'))
  stop.abort()
  await assert.rejects(running, { kind: 'cancelled' })
  assert.deepEqual(await livingWith(box.path), [])
})

test('runLocalShell() reports the newest lines while it runs', async () => {
  await using box = await openBox()
  const output = Promise.withResolvers<string>()
  const running = box.run('echo one; until [ -e seen ]; do sleep 0.05; done', NEVER, output.resolve)
  assert.equal(await output.promise, 'one\n')
  await writeFile(join(box.path, 'seen'), '')
  assert.deepEqual(await running, { output: 'one\n', exitCode: 0 })
})

test('runLocalShell() ends background processes of the line', async () => {
  await using box = await openBox()
  assert.deepEqual(await box.run('sleep 600 & echo done'), { output: 'done\n', exitCode: 0 })
  assert.deepEqual(await livingWith(box.path), [])
})

async function openBox() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const env = { PATH: '/usr/bin:/bin', TEST_WORD: folder.path }
  const options = { cwd: folder.path, env, spillFolder: join(folder.path, 'spill'), columns: 100 }
  return Object.assign(folder, {
    async run(line: string, signal = NEVER, tell: (newest: string) => void = () => {}) {
      await using processes = openTestHost()
      return await runLocalShell(line, { ...options, processes, onOutput: tell }, signal)
    },
  })
}
