import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { MemoryLeases } from '../../../src/core/lease/memory-leases.ts'
import { SessionIndex, type SessionIndexOptions } from '../../../src/core/session-search/session-index.ts'
import { type SessionAsk, toSessionQuery } from '../../../src/core/session-search/session-query.ts'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import { SessionFolder } from '../../../src/core/storage/session-folder.ts'
import { SEARCH_WORKER } from '../../support/search-worker.ts'
import { until } from '../../support/until.ts'
import { makeHeader, tickingClock, toLine } from '../storage/samples.ts'

const NEVER = new AbortController().signal

test('search() returns the best message of each session, chosen after weighting, with the messages around it', async () => {
  await using home = await openHome()
  const { storage, find, open } = home
  await using _index = open()
  const one = await storage.createSession(makeHeader(), [
    toLine('the fox and the wolf', 'assistant'),
    toLine('the fox and the bear'),
    toLine('something else', 'assistant'),
  ])
  await storage.createSession(makeHeader(), [toLine('nothing of that kind')])
  const { matches, partial } = await find({ text: 'fox', contextBefore: 1, contextAfter: 0 })
  assert.equal(partial, false)
  assert.deepEqual(
    matches.map(({ session, kind, seq }) => [session, kind, seq]),
    [[one.id, 'user', 2]],
  )
  assert.deepEqual(
    matches[0]?.window.map(({ seq, snippet, matches: words }) => [seq, snippet, words]),
    [
      [1, 'the fox and the wolf', [4, 7]],
      [2, 'the fox and the bear', [4, 7]],
    ],
  )
})

test('search() finds sessions by their title or their summary alone', async () => {
  await using home = await openHome()
  await using _index = home.open()
  const { storage, found } = home
  const title = await storage.createSession(makeHeader(), [{ kind: 'meta', title: 'A walk in Lisbon' }])
  const summary = await storage.createSession(makeHeader(), [
    toLine('hello'),
    { kind: 'meta', summary: 'They spoke of Lisbon' },
  ])
  assert.deepEqual(await found({ text: 'lisbon' }), [`${summary.id} 0`, `${title.id} 0`])
})

test('search() finds a long message that was just written, and what came after it', async () => {
  await using home = await openHome()
  const index = home.open()
  await using _index = index
  const { storage, found } = home
  assert.deepEqual(await found({ text: 'zebra' }), []) // it follows the folder from now on
  const { id, cursor } = await storage.createSession(makeHeader(), [toLine('hello')])
  const long = await storage.append(id, cursor, [toLine(`${'word '.repeat(20_000)} zebra`, 'assistant')])
  await storage.append(id, long, [toLine('a quagga')])
  assert.deepEqual(await found({ text: 'zebra' }), [`${id} 2`])
  assert.deepEqual(await found({ text: 'quagga' }), [`${id} 3`])
})

test('search() returns at most 20 sessions, however many matches a long one has', async () => {
  await using home = await openHome()
  await using _index = home.open()
  const { storage, found } = home
  await storage.createSession(
    makeHeader(),
    Array.from({ length: 200 }, () => toLine('fox fox fox')),
  )
  for (let index = 0; index < 30; index += 1)
    await storage.createSession(makeHeader(), [toLine(`a fox ${index}`)])
  const all = await found({ text: 'fox', limit: 1000 })
  assert.equal(all.length, 20)
  assert.equal(new Set(all.map((line) => line.split(' ')[0])).size, 20)
  assert.equal((await found({ text: 'fox', limit: 3 })).length, 3)
})

test('search() is limited to the requested sessions and times', async () => {
  await using home = await openHome()
  await using _index = home.open()
  const { storage, found } = home
  const create = async (over: Parameters<typeof makeHeader>[0]) =>
    `${(await storage.createSession(makeHeader(over), [toLine('fox')])).id} 1`
  const ann = await create({ created_by: 'ann' })
  const bob = await create({ created_by: 'bob', cwd: '/elsewhere' })
  const other = await create({ agent_id: '01J00000000000000000000009', created_by: 'ann' })
  assert.deepEqual(await found({ text: 'fox' }), [other, bob, ann])
  assert.deepEqual(await found({ text: 'fox', isSender: (sender) => sender === 'ann' }), [other, ann])
  assert.deepEqual(await found({ text: 'fox', agentId: makeHeader().agent_id }), [bob, ann])
  assert.deepEqual(await found({ text: 'fox', cwd: '/elsewhere' }), [bob])
  const [first = '', second = ''] = [ann, bob].map((line) => line.split(' ')[0])
  const times = await Promise.all(
    [first, second].map(async (id) => Date.parse((await storage.read(id)).lines[0]!.ts)),
  )
  assert.deepEqual(await found({ text: 'fox', until: times[0]! }), [])
  assert.deepEqual(await found({ text: 'fox', since: times[0]!, until: times[1]! }), [ann])
})

test('search() omits a session whose file disappears meanwhile, and returns the next best', async () => {
  await using home = await openHome()
  const { storage, found, folder } = home
  await using _index = home.open()
  const gone = await storage.createSession(makeHeader(), [toLine('fox')])
  const remaining = await storage.createSession(makeHeader(), [toLine('a fox and more words')])
  const path = folder.file(gone.id)
  utimesSync(path, 1, 1)
  assert.deepEqual(await found({ text: 'fox' }), [`${gone.id} 1`, `${remaining.id} 1`])
  writeFileSync(path, readFileSync(path, 'utf8').replace('"seq":1', '"seq":7'))
  utimesSync(path, 1, 1)
  assert.deepEqual(await found({ text: 'fox', limit: 1 }), [`${remaining.id} 1`])
})

test('a reopened index starts from the last checkpoint, and adds what came since', async () => {
  await using home = await openHome()
  const { storage, found, folder } = home
  const first = home.open({ worthSaving: 1 })
  const one = await storage.createSession(makeHeader(), [toLine('quick fox')])
  const two = await storage.createSession(makeHeader(), [toLine('lazy fox')])
  const three = await storage.createSession(makeHeader(), [toLine('third fox')])
  const path = folder.file(one.id)
  utimesSync(path, 1, 1)
  assert.equal((await found({ text: 'fox' })).length, 3)
  await first[Symbol.asyncDispose]()
  assert.ok(existsSync(join(home.checkpoints, 'manifest')))

  writeFileSync(path, readFileSync(path, 'utf8').replace('fox', 'cat'))
  utimesSync(path, 1, 1) // of the same length and time, so it is not read again
  await storage.append(two.id, two.cursor, [toLine('a zebra')])
  const four = await storage.createSession(makeHeader(), [toLine('fourth fox')])
  await storage.deleteSession(three.id)
  await using _second = home.open()
  assert.deepEqual((await found({ text: 'fox' })).toSorted(), [`${one.id} 1`, `${two.id} 1`, `${four.id} 1`])
  assert.deepEqual(await found({ text: 'zebra' }), [`${two.id} 2`])
})

test('an index is rebuilt when a checkpoint is damaged, and says so', async () => {
  await using home = await openHome()
  const { storage, found } = home
  const first = home.open({ worthSaving: 1 })
  const { id } = await storage.createSession(makeHeader(), [toLine('quick fox')])
  await found({ text: 'fox' })
  await first[Symbol.asyncDispose]()
  for (const name of readdirSync(home.checkpoints)) {
    const path = join(home.checkpoints, name)
    const bytes = readFileSync(path)
    bytes[bytes.length >> 1]! ^= 0xff
    writeFileSync(path, bytes)
    const second = home.open()
    assert.deepEqual(await found({ text: 'fox' }), [`${id} 1`], name)
    await second[Symbol.asyncDispose]()
    bytes[bytes.length >> 1]! ^= 0xff
    writeFileSync(path, bytes)
  }
  assert.ok(home.logged.length > 0)
  home.logged.length = 0
  rmSync(home.checkpoints, { recursive: true })
  await using _third = home.open()
  assert.deepEqual(await found({ text: 'fox' }), [`${id} 1`])
  assert.deepEqual(home.logged, [])
})

test('only the holder of the lease writes checkpoints', async () => {
  await using home = await openHome()
  const { storage, found, leases } = home
  await storage.createSession(makeHeader(), [toLine('quick fox')])
  {
    await using _lease = await leases.take('index', NEVER)
    const index = home.open({ worthSaving: 1, isLongLived: false })
    assert.equal((await found({ text: 'fox' })).length, 1)
    await index[Symbol.asyncDispose]()
    assert.ok(!existsSync(home.checkpoints))
  }
  const index = home.open({ worthSaving: 1, isLongLived: false })
  assert.equal((await found({ text: 'fox' })).length, 1)
  await index[Symbol.asyncDispose]()
  assert.ok(existsSync(home.checkpoints))
})

test('a long-lived index saves while it runs, a short-lived one only after much work', async () => {
  await using home = await openHome()
  const { storage, found } = home
  await storage.createSession(makeHeader(), [toLine('quick fox')])
  const small = home.open({ isLongLived: false })
  await found({ text: 'fox' })
  await small[Symbol.asyncDispose]()
  assert.ok(!existsSync(home.checkpoints))
  await using _index = home.open({ worthSaving: 1 })
  await found({ text: 'fox' })
  await until('a checkpoint is written', () => existsSync(join(home.checkpoints, 'manifest')))
})

test('search() of a long-lived index answers while it is built, and says that it is partial', async () => {
  await using home = await openHome()
  const { storage, find } = home
  for (let index = 0; index < 60; index += 1) {
    await storage.createSession(
      makeHeader(),
      Array.from({ length: 20 }, () => toLine(`fox ${'and so on '.repeat(300)}`)),
    )
  }
  await using index = home.open({ patienceMs: 0 })
  assert.equal((await find({ text: 'fox' })).partial, true)
  const own = await storage.createSession(makeHeader(), [toLine('new zebra')])
  assert.deepEqual(
    (await find({ text: 'zebra' })).matches.map(({ session }) => session),
    [own.id],
    'what is new is found at once',
  )
  await index.settled(NEVER)
  assert.equal((await find({ text: 'fox' })).matches.length, 20)
})

test('search() that is aborted does not end the work that others wait for', async () => {
  await using home = await openHome()
  await using _index = home.open()
  await home.storage.createSession(makeHeader(), [toLine('fox')])
  const stop = new AbortController()
  const first = home.find({ text: 'fox' }, stop.signal)
  const second = home.find({ text: 'fox' })
  stop.abort()
  await assert.rejects(first, { kind: 'cancelled' })
  assert.equal((await second).matches.length, 1)
})

async function openHome() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const sessions = join(dir.path, 'sessions')
  const folder = new SessionFolder({ path: sessions, isWatched: true })
  const leases = new MemoryLeases()
  const logged: string[] = []
  let index: SessionIndex | undefined
  const storage = new DiskStorage({
    ...{ sessions, index: join(dir.path, 'index'), folder, now: tickingClock() },
    onChange: (change) => index?.changed(change),
  })
  const find = (ask: SessionAsk, signal = NEVER) => index!.search(toSessionQuery(ask), signal)
  return {
    ...{ folder, storage, leases, logged, find },
    checkpoints: join(dir.path, 'index', 'search'),
    /** Opens an index; only one at a time, and the caller disposes it. */
    open(options: Partial<SessionIndexOptions> = {}) {
      index = new SessionIndex({
        ...{ folder, leases, index: join(dir.path, 'index'), isLongLived: true, patienceMs: 60_000 },
        worker: async () => SEARCH_WORKER,
        log: (level, message) => logged.push(`${level} ${message}`),
        ...options,
      })
      return index
    },
    /** Returns results as `session seq`, best first. */
    found: async (ask: SessionAsk) =>
      (await find(ask)).matches.map(({ session, seq }) => `${session} ${seq}`),
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]()
      await leases[Symbol.asyncDispose]()
      await dir.remove()
    },
  }
}

test('search() finds a line with a number higher than any session has', async () => {
  await using home = await openHome()
  const { storage, found, folder } = home
  await using _index = home.open()
  const { id } = await storage.createSession(makeHeader(), [toLine('one'), toLine('fox'), toLine('dog')])
  const path = folder.file(id)
  writeFileSync(path, readFileSync(path, 'utf8').replace('"seq":2', '"seq":9000000000'))
  assert.deepEqual(await found({ text: 'fox' }), [`${id} 2`])
  assert.deepEqual(await found({ text: 'dog' }), [`${id} 3`])
})
