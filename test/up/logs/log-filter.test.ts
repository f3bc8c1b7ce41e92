import assert from 'node:assert/strict'
import { appendFile, mkdtempDisposable, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { LogFile } from '../../../src/core/base/log-file.ts'
import { listLogFiles, loggedServices, supervisorLog } from '../../../src/up/logs/log-files.ts'
import { type LogFilter, readBacklog } from '../../../src/up/logs/log-filter.ts'

const ALL: LogFilter = { lines: undefined, since: undefined, unfinished: false, isWanted: () => true }

test('readBacklog() orders the lines of all services by time', async () => {
  await using logs = await makeLogs()
  logs.write('daemon', [1, 4, 6])
  logs.write('cron', [2, 3, 7])
  assert.deepEqual(await logs.read(['daemon', 'cron'], ALL), [1, 2, 3, 4, 6, 7])
  assert.deepEqual(await logs.read(['daemon', 'cron'], { ...ALL, lines: 4 }), [3, 4, 6, 7])
  assert.deepEqual(await logs.read(['daemon', 'cron'], { ...ALL, lines: 0 }), [])
  assert.deepEqual(await logs.read(['cron'], { ...ALL, lines: 9 }), [2, 3, 7])
  assert.deepEqual(await logs.read(['nobody'], ALL), [])
})

test('readBacklog() reads rotated files too', async () => {
  await using logs = await makeLogs({ maxBytes: 300 })
  const times = Array.from({ length: 14 }, (_, index) => index + 1)
  logs.write('daemon', times)
  const numbers = await logs.read(['daemon'], ALL)
  assert.ok(numbers.length >= 8, `${numbers}`)
  assert.deepEqual(numbers, times.slice(-numbers.length))
  assert.deepEqual(await logs.read(['daemon'], { ...ALL, lines: 7 }), times.slice(-7))
  assert.deepEqual(await logs.read(['daemon'], { ...ALL, since: 9 }), times.slice(8))
  assert.deepEqual(await logs.read(['daemon'], { ...ALL, since: 9, lines: 2 }), [13, 14])
})

test("readBacklog() dates a service's output by its file, and knows where to continue", async () => {
  await using logs = await makeLogs()
  logs.write('daemon', [1, 9])
  const crash = join(logs.folder, 'daemon.crash.log')
  await writeFile(crash, 'boom\nat x\n')
  await utimes(crash, 0.005, 0.005)
  const read = new Map<string, number>()
  const found: string[] = []
  const files = listLogFiles('daemon', logs.folder)
  for await (const { message } of readBacklog(files, ALL, ({ source }, to) => read.set(source, to.offset))) {
    found.push(message)
  }
  assert.deepEqual(found, ['line 1', 'boom', 'at x', 'line 9'])
  assert.equal(read.get('crash'), 10)
  assert.deepEqual(await logs.read(['daemon'], { ...ALL, since: 6 }), [9])
})

test('readBacklog() shows a partial last line only when nothing follows the log', async () => {
  await using logs = await makeLogs()
  await writeFile(join(logs.folder, 'daemon.log'), 'whole\npart')
  const messages = async (filter: Partial<LogFilter>) =>
    await logs.messages(['daemon'], { ...ALL, ...filter })
  for (const lines of [undefined, 5]) {
    assert.deepEqual(await messages({ lines }), ['whole'])
    assert.deepEqual(await messages({ lines, unfinished: true }), ['whole', 'part'])
  }
})

test('readBacklog() finds the last lines of a service among those of others in one file', async () => {
  await using logs = await makeLogs()
  const lines = [...'abababbbbbbb'].map((service, n) => JSON.stringify({ message: `${n}`, service, time: n }))
  await writeFile(join(logs.folder, 'supervisor.log'), `${lines.join('\n')}\n`)
  const filter = { ...ALL, lines: 2, isWanted: ({ service }: { service: string }) => service === 'a' }
  const found = await Array.fromAsync(readBacklog([supervisorLog(logs.folder)], filter, () => {}))
  assert.deepEqual(
    found.map(({ message }) => message),
    ['2', '4'],
  )
})

test('loggedServices() lists services that have written something, without the supervisor', async () => {
  await using logs = await makeLogs()
  for (const file of [
    'daemon.log',
    'cron.crash.log',
    'clock.log.3',
    'supervisor.log',
    'notes.txt',
    'A.log',
  ]) {
    await appendFile(join(logs.folder, file), 'x\n')
  }
  assert.deepEqual(await loggedServices(logs.folder), ['clock', 'cron', 'daemon'])
  assert.deepEqual(await loggedServices('/nowhere'), [])
})

/** Writes a folder of logs as services do: `line N` at N milliseconds. */
async function makeLogs(options: { maxBytes?: number } = {}) {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const folder = dir.path
  const messages = async (names: readonly string[], filter: LogFilter) => {
    const files = names.flatMap((name) => listLogFiles(name, folder))
    return (await Array.fromAsync(readBacklog(files, filter, () => {}))).map(({ message }) => message)
  }
  return {
    folder,
    messages,
    write(name: string, times: readonly number[]) {
      let time = 0
      using file = new LogFile({ path: join(folder, `${name}.log`), pid: 1, now: () => time, ...options })
      for (time of times) file.log('info', `line ${time}`)
    },
    read: async (names: readonly string[], filter: LogFilter) =>
      (await messages(names, filter)).map((message) => Number(message.slice('line '.length))),
    [Symbol.asyncDispose]: () => dir.remove(),
  }
}
