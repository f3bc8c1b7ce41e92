import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { LogFile } from '../../../src/core/base/log-file.ts'

async function place() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  return { path: join(folder.path, 'logs', 'x.log'), [Symbol.asyncDispose]: () => folder.remove() }
}

/** Returns the message of each line of a file. */
async function messagesIn(path: string): Promise<string[]> {
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line).message)
}

test('LogFile writes a private JSON line before log() returns, and no debug lines', async () => {
  await using at = await place()
  using file = new LogFile({ path: at.path, pid: 7, now: () => 0 })
  await assert.rejects(stat(at.path), { code: 'ENOENT' })
  file.log('debug', 'nothing')
  file.log('warn', 'two\nlines', { kind: 'config' })
  assert.equal(
    await readFile(at.path, 'utf8'),
    '{"time":"1970-01-01T00:00:00.000Z","level":"warn","pid":7,"message":"two\\nlines","kind":"config"}\n',
  )
  assert.deepEqual(
    [(await stat(at.path)).mode & 0o777, (await stat(join(at.path, '..'))).mode & 0o777],
    [0o600, 0o700],
  )
})

test('LogFile appends to an existing file, and rotates it before it becomes too large', async () => {
  await using at = await place()
  const options = { path: at.path, pid: 7, now: () => 0, maxBytes: 160, files: 3 }
  for (let n = 0; n < 9; n += 1) {
    using file = new LogFile(options)
    file.log('info', `line ${n}`)
  }
  assert.deepEqual(await messagesIn(at.path), ['line 8'])
  assert.deepEqual(await messagesIn(`${at.path}.1`), ['line 6', 'line 7'])
  assert.deepEqual(await messagesIn(`${at.path}.2`), ['line 4', 'line 5'])
  assert.deepEqual((await readdir(join(at.path, '..'))).length, 3)
})

test('LogFile truncates a message that would fill it', async () => {
  await using at = await place()
  using file = new LogFile({ path: at.path, pid: 7, now: () => 0 })
  file.log('error', 'x'.repeat(100_000))
  assert.ok((await stat(at.path)).size < 10_000)
})

test('LogFile continues in a new file when the old one is moved or removed', async () => {
  await using at = await place()
  using file = new LogFile({ path: at.path, pid: 7, now: () => 0 })
  file.log('info', 'one')
  await rename(at.path, `${at.path}.old`)
  file.log('info', 'two')
  await rm(at.path)
  file.log('info', 'three')
  assert.deepEqual(await messagesIn(`${at.path}.old`), ['one'])
  assert.deepEqual(await messagesIn(at.path), ['three'])
})

test('LogFile drops a line that cannot be written, and tries the next', async () => {
  await using at = await place()
  const folder = join(at.path, '..')
  await writeFile(folder, 'in the way')
  using file = new LogFile({ path: at.path, pid: 7, now: () => 0 })
  file.log('info', 'lost')
  await rm(folder)
  file.log('info', 'kept')
  assert.deepEqual(await messagesIn(at.path), ['kept'])
})
