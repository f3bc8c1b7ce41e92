import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { TextIndex } from '../../../src/core/search/text-index.ts'
import { filesOnly, openBackground } from '../../../src/core/session-search/background/open-background.ts'
import { changedFile } from '../../../src/core/session-search/background/read-progress.ts'
import type { IndexBackground } from '../../../src/core/session-search/background/types.ts'
import { FollowedSessions } from '../../../src/core/session-search/followed-sessions.ts'
import { SessionTable } from '../../../src/core/session-search/session-table.ts'
import { encodeLines } from '../../../src/core/storage/session-file.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { until } from '../../support/until.ts'
import { makeHeader, toLine } from '../storage/samples.ts'
import { type FollowedHome, followedHome, foundBy } from './followed-home.ts'

const NEVER = new AbortController().signal

test('what this process writes is found immediately, with the byte offset of its line', async () => {
  await using home = await followedHome()
  const { own, followed, folder } = home
  const { id, cursor } = await own.createSession(makeHeader(), [toLine('é quick fox')])
  assert.deepEqual(foundBy(followed, 'fox'), [`${id} 0 1 ${findOffset(folder.file(id), 'quick')}`])
  await own.append(id, cursor, [toLine('lazy dog'), toLine('zebra', 'assistant')])
  assert.deepEqual(foundBy(followed, 'zebra'), [`${id} 1 3 ${findOffset(folder.file(id), 'zebra')}`])
  await own.deleteSession(id)
  assert.deepEqual(foundBy(followed, 'fox zebra dog'), [])
  assert.equal(followed.table.size, 0)
})

test('a title replaces the previous one, and an empty one leaves none', async () => {
  await using home = await followedHome()
  const { own, other, followed } = home
  const { id, cursor } = await own.createSession(makeHeader(), [{ kind: 'meta', title: 'Animals' }])
  let at = await own.append(id, cursor, [{ kind: 'meta', title: 'Creatures', summary: 'all about wings' }])
  assert.deepEqual([foundBy(followed, 'animals').length, foundBy(followed, 'creatures').length], [0, 1])
  at = await other.append(id, at, [{ kind: 'meta', title: 'Beasts' }])
  await followed.catchUp(NEVER)
  assert.deepEqual([foundBy(followed, 'creatures').length, foundBy(followed, 'beasts').length], [0, 1])
  await own.append(id, at, [{ kind: 'meta', title: '' }])
  assert.deepEqual([foundBy(followed, 'beasts').length, foundBy(followed, 'wings').length], [0, 1])
})

for (const isWatched of [false, true]) {
  const where = isWatched ? 'a watched folder' : 'a folder'

  test(`catchUp() over ${where} finds what others wrote, and nothing that they deleted`, async () => {
    await using home = await followedHome({ isWatched })
    const { own, other, followed } = home
    const { id, cursor } = await other.createSession(makeHeader(), [toLine('quick fox')])
    await followed.catchUp(NEVER)
    assert.equal(foundBy(followed, 'fox').length, 1)
    const at = await other.append(id, cursor, [toLine('lazy dog')])
    await own.append(id, at, [toLine('zebra')])
    assert.deepEqual(foundBy(followed, 'dog zebra'), [], 'what is behind the others waits')
    await followed.catchUp(NEVER)
    assert.equal(foundBy(followed, 'dog zebra').length, 2)
    const copy = await other.copySession(id, makeHeader(), 2)
    await other.deleteSession(id)
    await followed.catchUp(NEVER)
    assert.deepEqual(
      foundBy(followed, 'fox zebra').map((found) => found.split(' ')[0]),
      [copy],
    )
  })
}

test('catchUp() reads a session again that was truncated, replaced or edited manually', async () => {
  await using home = await followedHome()
  const { other, followed, folder } = home
  const { id } = await other.createSession(makeHeader(), [toLine('one'), toLine('two'), toLine('three')])
  await followed.catchUp(NEVER)
  const path = folder.file(id)
  truncateSync(path, findOffset(path, 'three'))
  await followed.catchUp(NEVER)
  assert.deepEqual([foundBy(followed, 'three').length, foundBy(followed, 'one two').length], [0, 2])
  writeFileSync(`${path}.new`, readFileSync(path, 'utf8').replace('one', 'uno'))
  renameSync(`${path}.new`, path)
  await followed.catchUp(NEVER)
  assert.deepEqual([foundBy(followed, 'one').length, foundBy(followed, 'uno two').length], [0, 2])
  writeFileSync(path, `${readFileSync(path, 'utf8').replace('two', 'twofold')}{"kind":"entry"`)
  await followed.catchUp(NEVER)
  assert.deepEqual([foundBy(followed, 'two').length, foundBy(followed, 'uno twofold').length], [0, 2])
})

test('catchUp() waits for an unfinished line to end', async () => {
  await using home = await followedHome()
  const { other, followed, folder } = home
  const { id, cursor } = await other.createSession(makeHeader(), [toLine('one')])
  const [line] = encodeLines([toLine('zebra')], cursor.seq, 0)
  appendFileSync(folder.file(id), line!.slice(0, 20))
  await followed.catchUp(NEVER)
  await followed.catchUp(NEVER)
  assert.deepEqual(foundBy(followed, 'zebra'), [])
  appendFileSync(folder.file(id), line!.slice(20))
  await followed.catchUp(NEVER)
  assert.deepEqual(foundBy(followed, 'zebra'), [`${id} 0 2 ${cursor.bytes}`])
})

test('catchUp() reports an unreadable session once, and finds the others', async () => {
  await using home = await followedHome()
  const { other, followed, folder, logged } = home
  const { id } = await other.createSession(makeHeader(), [toLine('fox')])
  mkdirSync(folder.file(id.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))))
  await followed.catchUp(NEVER)
  await followed.catchUp(NEVER)
  assert.equal(foundBy(followed, 'fox').length, 1)
  assert.equal(logged.length, 1)
  assert.match(logged[0]!, /^warn a session is not searched: .*EISDIR/)
})

test('catchUp() that is aborted leaves nothing half read, and the next one reads it', async () => {
  await using home = await followedHome()
  const { other, followed } = home
  const long = Array.from({ length: 20 }, (_, index) => toLine(`fox ${index} ${'and so on '.repeat(300)}`))
  for (let index = 0; index < 45; index += 1) await other.createSession(makeHeader(), long)
  const stop = new AbortController()
  const stopped = followed.catchUp(stop.signal)
  void until('something is read', () => followed.table.size > 0).then(() => stop.abort())
  await assert.rejects(stopped)
  const { size } = followed.table
  assert.ok(size > 0 && size < 45, `${size} sessions`)
  assert.equal(foundBy(followed, 'fox').length, 20 * size)
  await followed.catchUp(NEVER)
  assert.equal(foundBy(followed, 'fox').length, 900)
})

const WORDS = ['fox', 'dog', 'zebra', 'getUserName', '東京', 'wing']
const QUERIES = [...WORDS, WORDS.join(' '), 'user name dog']

test('after any changes by this process, others and people it matches a new index', async () => {
  const word = fc.constantFrom(...WORDS)
  const act = fc.record({
    by: fc.constantFrom('own' as const, 'other' as const),
    what: fc.constantFrom(...ACTS),
    which: fc.nat(5),
    words: fc.array(word, { minLength: 1, maxLength: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(act, { maxLength: 25 }), async (isWatched, acts) => {
      await using home = await followedHome({ isWatched })
      const ids: string[] = []
      for (const step of acts) await take(home, ids, step)
      await home.followed.catchUp(NEVER)
      const anew = await home.rebuilt()
      for (const query of QUERIES) assert.deepEqual(scored(home.followed, query), scored(anew, query), query)
      assert.deepEqual(home.logged, [])
    }),
    { numRuns: propertyRuns(600, 60) },
  )
})

const ACTS = ['create', 'create', 'say', 'say', 'say', 'title', 'delete', 'tear', 'rewrite', 'look'] as const

interface Act {
  by: 'own' | 'other'
  what: (typeof ACTS)[number]
  which: number
  words: string[]
}

async function take(home: FollowedHome, ids: string[], { by, what, which, words }: Act): Promise<void> {
  const text = words.join(' ')
  if (what === 'look') return await home.followed.catchUp(NEVER)
  if (what === 'create' || ids.length === 0) {
    const { id } = await home[by].createSession(makeHeader({ created_by: `user${which}` }), [toLine(text)])
    return void ids.push(id)
  }
  const id = ids[which % ids.length]!
  const path = home.folder.file(id)
  const { cursor } = await home[by].read(id)
  if (what === 'say') await home[by].append(id, cursor, [toLine(text), toLine(words[0]!, 'assistant')])
  if (what === 'title') await home[by].append(id, cursor, [{ kind: 'meta', title: text }])
  if (what === 'tear') appendFileSync(path, `{"kind":"entry","role":"user","content":"${text}`)
  if (what === 'rewrite') writeFileSync(path, readFileSync(path, 'utf8').replace('fox', 'foxes'))
  if (what !== 'delete') return
  await home[by].deleteSession(id)
  ids.splice(ids.indexOf(id), 1)
}

/** Returns matches with their scores, independent of the index's session ids; equal scores are sorted. */
function scored({ text, table }: FollowedSessions, words: string): string[] {
  const hits = text.search({ text: words, limit: 1000 })
  return hits
    .map(
      ({ group, kind, seq, offset, score }) =>
        `${score} ${table.findByGroup(group)?.id} ${kind} ${seq} ${offset}`,
    )
    .toSorted()
}

function findOffset(path: string, words: string): number {
  const bytes = readFileSync(path)
  return bytes.lastIndexOf(0x0a, bytes.indexOf(words)) + 1
}

test('catchUp() reads a session again that was changed in place to another of the same length', async () => {
  await using home = await followedHome()
  const { other, followed, folder } = home
  const { id } = await other.createSession(makeHeader(), [toLine('one')])
  await followed.catchUp(NEVER)
  const path = folder.file(id)
  writeFileSync(path, readFileSync(path, 'utf8').replace('one', 'two'))
  utimesSync(path, 1, 1)
  await followed.catchUp(NEVER)
  assert.deepEqual([foundBy(followed, 'one').length, foundBy(followed, 'two').length], [0, 1])
})

test('catchUp() later retries a session that could not be read, even if its file has not changed', async () => {
  await using home = await followedHome()
  await using disk = openBackground({ worker: async () => undefined, log: () => undefined })
  let isFailing = true
  let now = 0
  const failing: IndexBackground = {
    ...disk,
    async *readFiles(files, signal) {
      const failed = files.map(({ group }) => ({ ...changedFile(group), changed: false, problem: 'EIO' }))
      if (isFailing) yield filesOnly(failed)
      else yield* disk.readFiles(files, signal)
    },
  }
  const { folder, other } = home
  const place = { folder, text: new TextIndex(), table: new SessionTable() }
  const background = { worker: failing, inline: failing, log: () => undefined }
  const followed = new FollowedSessions({ ...place, ...background, now: () => now })
  await other.createSession(makeHeader(), [toLine('fox')])
  await followed.catchUp(NEVER)
  isFailing = false
  await followed.catchUp(NEVER)
  assert.deepEqual(foundBy(followed, 'fox'), [], 'not at every search')
  now += 60_000
  await followed.catchUp(NEVER)
  assert.equal(foundBy(followed, 'fox').length, 1)
})

test('a pipe among the sessions blocks nothing', async () => {
  await using home = await followedHome()
  const { other, followed, folder } = home
  const { id } = await other.createSession(makeHeader(), [toLine('fox')])
  execFileSync('mkfifo', [folder.file(id.replace(/.$/, (last) => (last === '0' ? '1' : '0')))])
  await followed.catchUp(NEVER)
  assert.equal(foundBy(followed, 'fox').length, 1)
  assert.equal((await other.listSessions({})).filter((row) => row.id === id).length, 1)
})

test('sessions that are deleted together are removed together', async () => {
  await using home = await followedHome()
  const { other, followed, folder } = home
  const made: string[] = []
  for (let n = 0; n < 20; n++) made.push((await other.createSession(makeHeader(), [toLine(`fox ${n}`)])).id)
  await followed.catchUp(NEVER)
  const removed: number[] = []
  const { removeGroups } = followed.text
  followed.text.removeGroups = (groups) => {
    const all = [...groups]
    removed.push(all.length)
    removeGroups.call(followed.text, all)
  }
  for (const id of made.slice(0, 15)) unlinkSync(folder.file(id))
  for (const id of made.slice(15)) {
    copyFileSync(folder.file(id), `${folder.file(id)}.new`)
    renameSync(`${folder.file(id)}.new`, folder.file(id))
  }
  await followed.catchUp(NEVER)
  assert.deepEqual(removed, [15, 5], 'every removal looks through the whole index')
  assert.equal(foundBy(followed, 'fox').length, 5)
})
