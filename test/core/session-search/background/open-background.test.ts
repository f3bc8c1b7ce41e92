import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { PartToSave } from '../../../../src/core/search/checkpoint/types.ts'
import { TextIndex } from '../../../../src/core/search/text-index.ts'
import { indexFiles } from '../../../../src/core/session-search/background/index-files.ts'
import {
  type BackgroundOptions,
  openBackground,
} from '../../../../src/core/session-search/background/open-background.ts'
import type { ReadFile } from '../../../../src/core/session-search/background/types.ts'
import { SEARCH_WORKER } from '../../../support/search-worker.ts'
import { until } from '../../../support/until.ts'
import { toLine } from '../../storage/samples.ts'
import { allHits, manySessions, sessionFiles, writtenIndex } from './session-files.ts'

const never = new AbortController().signal
/** Returns a worker that works until it has received this many messages of a kind. */
const endsAfter = (count: number, job: string, end = 'process.exit(1)') => `
  let left = ${count}
  require('node:worker_threads').parentPort.on('message', (request) => {
    if (request.job === '${job}' && --left === 0) ${end}
  })
  import(${JSON.stringify(SEARCH_WORKER.href)})`

test('openBackground() loads what it saved, in memory that threads share', async () => {
  await using setting = await openFixture({})
  const parts = [makePart(1), makePart(2)]
  const files = await setting.background.save(setting.place, parts, never)
  const saved = await setting.background.load(setting.place, never)
  assert.deepEqual(
    saved,
    parts.map((part, at) => ({ ...part, file: files[at] })),
  )
  assert.ok(saved![0]!.part.arrays['numbers']!.buffer instanceof SharedArrayBuffer)
})

test('openBackground() passes messages of the worker to the log', async () => {
  await using setting = await openFixture({})
  const [file] = await setting.background.save(setting.place, [makePart(1)], never)
  execFileSync('truncate', ['-s', '10', join(setting.place.folder, file!)])
  assert.equal(await setting.background.load(setting.place, never), undefined)
  assert.equal(setting.told.length, 1)
  assert.match(setting.told[0]!, /is being rebuilt/)
})

test('openBackground() passes errors on unchanged', async () => {
  await using setting = await openFixture({})
  const place = { folder: fileURLToPath(SEARCH_WORKER), maker: '' }
  await assert.rejects(setting.background.save(place, [makePart(1)], never), {
    name: 'CrabError',
    kind: 'storage',
  })
})

test('openBackground() seals segments as an index does without it', async () => {
  await using setting = await openFixture({})
  const sessions = manySessions(120)
  for (const [group, lines] of sessions) setting.write(group, lines)
  const small = { tailDocuments: 64, segmentDocuments: 256 }
  const index = new TextIndex({ background: setting.background, ...small })
  await setting.indexAll(index, sessions.keys())
  index.removeGroups([3, 5, 7])
  await index.settle()
  for (const group of [3, 5, 7]) sessions.delete(group)
  assert.ok(index.stats.segments > 0)
  assert.deepEqual(allHits(index), allHits(writtenIndex(sessions)))
})

test('openBackground() stops a save before its promise settles', async () => {
  await using setting = await openFixture({})
  await setting.background.save(setting.place, [makePart(1)], never)
  const stop = new AbortController()
  const parts = Array.from({ length: 500 }, (_, n) => makePart(n))
  const saving = setting.background.save(setting.place, parts, stop.signal)
  await until('it writes', () => readdirSync(setting.place.folder).length > 5)
  stop.abort(new Error('enough'))
  await assert.rejects(saving, { message: 'enough' })
  assert.equal(readdirSync(setting.place.folder).length, 2)
  assert.equal((await setting.background.load(setting.place, never))?.length, 1)
})

test('openBackground() gives the work of an exited thread to a new one', async () => {
  await using setting = await openFixture({})
  const marker = join(setting.place.folder, '..', 'marker')
  const source = `
    try { require('node:fs').writeFileSync(${JSON.stringify(marker)}, '', { flag: 'wx' }) } catch { var isSecond = true }
    if (isSecond) import(${JSON.stringify(SEARCH_WORKER.href)})
    else require('node:worker_threads').parentPort.on('message', () => { throw new Error('a fault') })`
  await using background = setting.open({ worker: async () => source })
  assert.equal((await background.save(setting.place, [makePart(1)], never)).length, 1)
  assert.deepEqual(setting.told, ["The search index's worker thread ended; its work is restarted: a fault"])
  assert.equal(threads().includes('crabtalk-search'), platform() === 'linux', 'the second thread did it')
})

test('openBackground() works in this thread when threads keep exiting', async () => {
  await using setting = await openFixture({ worker: async () => endsAfter(1, 'save', 'process.exit(3)') })
  assert.equal((await setting.background.save(setting.place, [makePart(1)], never)).length, 1)
  assert.equal(setting.told.length, 2)
  assert.equal((await setting.background.load(setting.place, never))?.length, 1)
})

test('openBackground() works in this thread when a thread cannot start', async () => {
  await using setting = await openFixture({ worker: async () => 'this is no program' })
  assert.equal((await setting.background.save(setting.place, [makePart(1)], never)).length, 1)
  assert.equal(setting.told.length, 2)
})

test('readFiles() with threads that keep exiting still returns every session once', async () => {
  await using setting = await openFixture({ worker: async () => endsAfter(3, 'next') })
  const sessions = manySessions(1000)
  const long = Array.from({ length: 9000 }, (_, at) => toLine(`own17 ${at}`)) // of several batches
  sessions.set(500, long)
  for (const [group, lines] of sessions) setting.write(group, lines)
  const index = new TextIndex()
  const files = await setting.indexAll(index, sessions.keys())
  assert.deepEqual(
    files.map(({ group }) => group),
    [...sessions.keys()],
  )
  for (const { group } of files.filter(({ changed }) => changed)) {
    index.removeGroups([group])
    sessions.delete(group)
  }
  assert.ok(sessions.size >= 998)
  assert.deepEqual(allHits(index), allHits(writtenIndex(sessions)))
  assert.equal(setting.told.length, 2)
})

for (const [what, options] of [
  ['that ended', { worker: async () => endsAfter(1, 'next', 'setTimeout(() => process.exit(1), 50)') }],
  ['without a request', { idleMs: 1 }],
] as const) {
  test(`readFiles() with a thread ${what} between two batches returns every session`, async () => {
    await using setting = await openFixture(options)
    const sessions = manySessions(1000)
    for (const [group, lines] of sessions) setting.write(group, lines)
    const files = Array.from(sessions.keys(), setting.file)
    const ended: number[] = []
    for await (const batch of setting.background.readFiles(files, never)) {
      if (ended.length === 0) await setTimeout(200) // the thread is idle meanwhile
      ended.push(...batch.files.map(({ group }) => group))
    }
    assert.deepEqual(ended, [...sessions.keys()])
  })
}

test('an idle thread exits, and the next job starts another', {
  skip: !existsSync('/proc/self/task'),
}, async () => {
  await using setting = await openFixture({ idleMs: 1 })
  for (let round = 0; round < 2; round++) {
    await setting.background.load(setting.place, never)
    await until('the thread has ended', () => !threads().includes('crabtalk-search'))
  }
  assert.deepEqual(setting.told, [])
})

test('an idle thread keeps no process alive', async () => {
  const program = `
    import { openBackground } from ${JSON.stringify(import.meta.resolve('../../../../src/core/session-search/background/open-background.ts'))}
    const worker = async () => new URL(${JSON.stringify(SEARCH_WORKER.href)})
    const background = openBackground({ worker, log: console.log, idleMs: 1e9 })
    console.log(await background.load({ folder: '/nowhere', maker: '' }, new AbortController().signal))`
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', program], { timeout: 30_000 })
  assert.equal(out.toString(), 'undefined\n')
})

test('disposing stops running jobs, waits for them, and starts nothing', async () => {
  for (const worker of [async () => SEARCH_WORKER, async () => undefined]) {
    await using setting = await openFixture({ worker })
    const parts = Array.from({ length: 500 }, (_, n) => makePart(n))
    const saving = setting.background.save(setting.place, parts, never)
    let isSettled = false
    const failed = assert.rejects(saving, { kind: 'cancelled' }).then(() => {
      isSettled = true
    })
    await until('it writes', () => existsSync(setting.place.folder))
    await setting.background[Symbol.asyncDispose]()
    assert.ok(isSettled)
    await failed
    await assert.rejects(setting.background.load(setting.place, never), { kind: 'cancelled' })
    const left = readdirSync(setting.place.folder).length
    assert.ok(left < 500)
    assert.ok(!threads().includes('crabtalk-search'))
    assert.equal(readdirSync(setting.place.folder).length, left)
    assert.deepEqual(setting.told, [])
  }
})

function makePart(n: number): PartToSave {
  return { role: 'part', part: { facts: { n }, arrays: { numbers: new Uint32Array(1000).fill(n) } } }
}

/** Returns the names of the threads of this process, where the system has them. */
function threads(): string[] {
  if (!existsSync('/proc/self/task')) return []
  return readdirSync('/proc/self/task').flatMap((id) => {
    try {
      return readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim()
    } catch {
      return [] // it has just exited
    }
  })
}

async function openFixture(options: Partial<BackgroundOptions>) {
  const files = await sessionFiles()
  const messages: string[] = []
  const open = (more: Partial<BackgroundOptions>) =>
    openBackground({
      worker: async () => SEARCH_WORKER,
      log: (_, message) => messages.push(message),
      ...more,
    })
  const background = open(options)
  return {
    ...files,
    told: messages,
    open,
    background,
    place: { folder: files.index, maker: 'test' },
    async indexAll(index: TextIndex, groups: Iterable<number>): Promise<ReadFile[]> {
      const ended: ReadFile[] = []
      const onFile = (file: ReadFile) => ended.push(file)
      await indexFiles({ background, index, files: Array.from(groups, files.file), onFile }, never)
      return ended
    },
    async [Symbol.asyncDispose]() {
      await background[Symbol.asyncDispose]()
      await files[Symbol.asyncDispose]()
    },
  }
}
