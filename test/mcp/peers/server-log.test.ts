import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ServerLog } from '../../../src/mcp/peers/server-log.ts'

test('ServerLog keeps the last lines of all processes in a private file of bounded size', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-log-'))
  const logs = join(folder.path, 'mcp')
  for (let process = 0; process < 4; process++) {
    const log = new ServerLog(logs, 'abc')
    for (let at = 0; at < 100; at++) log.add(() => [`${process} ${at} ${'x'.repeat(1_000)}`])
    log.flush()
  }
  const { size, mode } = await stat(join(logs, 'abc.log'))
  assert.ok(size <= 256 * 1024, `${size} bytes`)
  assert.equal(mode & 0o777, 0o600)
  const lines = new ServerLog(logs, 'abc').read()
  assert.ok(lines.at(-1)!.startsWith('3 99 ') && lines.length <= 200)
})

test('ServerLog removes old logs, and a folder that cannot be written costs only the log', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-log-'))
  await writeFile(join(folder.path, 'old.log'), 'x\n')
  await utimes(join(folder.path, 'old.log'), 1, 1)
  const log = new ServerLog(folder.path, 'abc')
  log.add(() => ['one'])
  log.flush()
  assert.deepEqual(await readdir(folder.path), ['abc.log'])
  const nowhere = new ServerLog(join(folder.path, 'abc.log', 'below'), 'abc')
  nowhere.add(() => ['one'])
  nowhere.flush()
  assert.deepEqual(nowhere.read(), [])
})
