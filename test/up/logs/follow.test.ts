import assert from 'node:assert/strict'
import { appendFile, mkdir, mkdtempDisposable, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { LogFile } from '../../../src/core/base/log-file.ts'
import { followLogs } from '../../../src/up/logs/follow.ts'
import { listLogFiles, loggedServices } from '../../../src/up/logs/log-files.ts'

test('followLogs() returns every line of a log that is rotated repeatedly, once and in order', async () => {
  await using logs = await makeFollowed()
  using file = new LogFile({ path: logs.path('daemon.log'), pid: 1, now: Date.now, maxBytes: 400 })
  for (let n = 0; n < 40; n += 1) {
    file.log('info', `line ${n}`)
    assert.equal(await logs.next(), `line ${n}`)
  }
})

test('followLogs() waits for a missing folder or file, and for another service', async () => {
  await using logs = await makeFollowed()
  await rm(logs.folder, { recursive: true })
  const first = logs.next()
  await mkdir(logs.folder)
  await writeFile(logs.path('clock.log'), 'tick\n')
  assert.equal(await first, 'tick')
  await writeFile(logs.path('cron.crash.log'), 'boom\n')
  assert.equal(await logs.next(), 'boom')
})

test('followLogs() continues in a file that was truncated, moved away, or written in pieces', async () => {
  await using logs = await makeFollowed()
  const path = logs.path('daemon.crash.log')
  await writeFile(path, 'one, which is long\n')
  assert.equal(await logs.next(), 'one, which is long')
  await truncate(path, 0)
  await appendFile(path, 'two\n')
  assert.equal(await logs.next(), 'two')
  await rename(path, `${path}.old`)
  await writeFile(path, 'thr')
  await appendFile(path, 'ee\n')
  assert.equal(await logs.next(), 'three')
  const bytes = Buffer.from('fünf\n')
  await appendFile(path, bytes.subarray(0, 2))
  await appendFile(path, bytes.subarray(2))
  assert.equal(await logs.next(), 'fünf')
})

test('followLogs() ends with its signal, also while nothing happens', async () => {
  await using logs = await makeFollowed()
  const next = logs.next()
  logs.stop()
  assert.equal(await next, undefined)
})

/** Follows a folder of logs with frequent polling, because another file system may send no events. */
async function makeFollowed() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const folder = join(dir.path, 'logs')
  await mkdir(folder)
  const stop = new AbortController()
  const late = setTimeout(() => stop.abort(), 10_000) // a missing line fails the test without hanging it
  const files = async () => (await loggedServices(folder)).flatMap((name) => listLogFiles(name, folder))
  const followed = { folder, files, readTo: () => undefined, now: Date.now, everyMs: 50 }
  const lines = followLogs(followed, stop.signal)
  return {
    folder,
    path: (name: string) => join(folder, name),
    next: async () => (await lines.next()).value?.message,
    stop: () => stop.abort(),
    async [Symbol.asyncDispose]() {
      clearTimeout(late)
      stop.abort()
      await lines.return(undefined)
      await dir.remove()
    },
  }
}
