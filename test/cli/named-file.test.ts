import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readNamedFile, readNamedText } from '../../src/cli/named-file.ts'
import { CrabError } from '../../src/core/base/errors.ts'
import { openFifo } from '../support/fifo.ts'
import { makeTestHost } from '../support/test-host.ts'

const NEVER = new AbortController().signal

test('readNamedFile() returns the bytes of a file below the working directory', async () => {
  await using at = await makeTestHost()
  const bytes = Buffer.alloc(1_000_000, 'crab\0')
  await writeFile(join(at.folder, 'file'), bytes)
  assert.deepEqual(await readNamedFile({ path: 'file' }, at.host, NEVER), bytes)
})

test('readNamedFile() reports what it cannot read, and for which option', async () => {
  await using at = await makeTestHost()
  await assert.rejects(readNamedFile({ path: 'none', purpose: ' for --schema' }, at.host, NEVER), {
    kind: 'no-input',
    message: 'Cannot read none for --schema: it does not exist',
    hint: 'check the path',
  })
})

test('readNamedFile() reads a pipe that a shell opened, whether its writer is still there or gone', async () => {
  await using at = await makeTestHost()
  using fifo = openFifo()
  const file = { path: `/dev/fd/${fifo.output}` }
  const reading = readNamedText(file, at.host, NEVER)
  for (const word of ['one ', 'two']) {
    writeSync(fifo.input, word)
    await new Promise((resolve) => setImmediate(resolve))
  }
  fifo.endInput()
  assert.equal(await reading, 'one two')
  assert.equal(await readNamedText(file, at.host, NEVER), '')
})

test('readNamedFile() waits for the writer of a FIFO', async () => {
  await using at = await makeTestHost()
  const path = makeFifo(at.folder)
  const reading = readNamedText({ path }, at.host, NEVER)
  await sleep(50) // long enough for several attempts to find no writer
  await writeFile(path, 'late')
  assert.equal(await reading, 'late')
})

test('readNamedFile() fails with the reason of its signal while it waits for a writer or for data', async () => {
  await using at = await makeTestHost()
  using fifo = openFifo()
  for (const path of [makeFifo(at.folder), `/dev/fd/${fifo.output}`]) {
    const stop = new AbortController()
    const reading = readNamedFile({ path }, at.host, stop.signal)
    const reason = new CrabError('timeout', 'Too long')
    setImmediate(() => stop.abort(reason))
    await assert.rejects(reading, reason)
  }
  const reading = readNamedFile({ path: 'fifo' }, at.host, AbortSignal.abort())
  await assert.rejects(reading, { kind: 'cancelled' })
})

test('readNamedFile() reads what a device returns, and nothing from a folder or a socket', async () => {
  await using at = await makeTestHost()
  assert.equal(await readNamedText({ path: '/dev/null' }, at.host, NEVER), '')
  const endless = readNamedFile({ path: '/dev/zero' }, at.host, NEVER)
  await assert.rejects(endless, { kind: 'invalid', message: /\/dev\/zero: it is larger than/ })
  const server = createServer().listen(join(at.folder, 'socket'))
  await once(server, 'listening')
  const socket = readNamedFile({ path: 'socket' }, at.host, NEVER)
  await assert.rejects(socket, { kind: 'no-input', message: /socket: it is a socket$/ })
  server.close()
  const folder = readNamedFile({ path: '.' }, at.host, NEVER)
  await assert.rejects(folder, { kind: 'no-input', message: /it is a directory$/ })
})

function makeFifo(folder: string): string {
  const path = join(folder, 'fifo')
  execFileSync('mkfifo', [path])
  return path
}
