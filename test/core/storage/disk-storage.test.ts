import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import type { ReadPosition } from '../../../src/core/storage/types.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { mountReadOnly, mountSmallDisk } from '../../support/small-disk.ts'
import { newLine } from './arbitraries.ts'
import { makeHeader, toLine } from './samples.ts'

const pair = { agentId: makeHeader().agent_id, sender: makeHeader().created_by }

test('createSession() creates a private file that is named for the pair', async () => {
  await using home = await openHome()
  const { id } = await home.storage.createSession(makeHeader(), [toLine('hello')])
  const hash = createHash('sha256').update(`${pair.agentId}\0${pair.sender}`).digest('hex')
  assert.match(id, /^[0-9a-f]{16}-[0-9A-HJKMNP-TV-Z]{26}$/)
  assert.equal(id.slice(0, 16), hash.slice(0, 16))
  assert.deepEqual(readdirSync(home.sessions), [`${id}.jsonl`])
  assert.equal(statSync(home.file(id)).mode & 0o777, 0o600)
  assert.equal(statSync(home.sessions).mode & 0o777, 0o700)
  assert.equal(readFileSync(home.file(id), 'utf8').split('\n').length, 3)
})

test('append() heals a file that was cut at any byte, and read() before it returns a prefix', async () => {
  await using home = await openHome()
  const line = fc.array(newLine, { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(line, fc.nat(), newLine, async (lines, pick, next) => {
      const { id, cursor } = await home.storage.createSession(makeHeader(), lines)
      const whole = await home.storage.read(id)
      const start = readFileSync(home.file(id)).indexOf(10) + 1
      truncateSync(home.file(id), start + (pick % (cursor.bytes - start + 1)))
      const cut = await home.storage.read(id)
      assert.deepEqual(cut.lines, whole.lines.slice(0, cut.cursor.seq))
      const end = await home.storage.append(id, cut.cursor, [next])
      const healed = await home.storage.read(id)
      assert.deepEqual(healed.lines.slice(0, -1), cut.lines)
      assert.equal(healed.lines.at(-1)?.seq, cut.cursor.seq + 1)
      assert.deepEqual([healed.warnings, healed.cursor], [[], end])
      assert.equal(end.bytes, statSync(home.file(id)).size)
    }),
    { numRuns: propertyRuns(500, 50) },
  )
})

test('append() continues an emptied file', async () => {
  await using home = await openHome()
  const { id } = await home.storage.createSession(makeHeader(), [toLine('one')])
  truncateSync(home.file(id), 0)
  const { cursor } = await home.storage.read(id)
  await home.storage.append(id, cursor, [toLine('two')])
  const part = await home.storage.read(id)
  assert.deepEqual(
    part.lines.map(({ seq }) => seq),
    [1],
  )
  assert.deepEqual(part.warnings, ['The first line of the session is missing'])
  assert.equal(await home.storage.activeSession(pair), id)
})

test('append() fails with conflict when something else changed the file, and leaves it alone', async () => {
  for (const change of [
    (path: string) => appendFileSync(path, '{"seq":2,"kind":"meta"}\n'),
    (path: string) => appendFileSync(path, '{"seq":2,"kind":"meta"}\n{"torn'),
    (path: string) => truncateSync(path, statSync(path).size - 3),
    (path: string) => truncateSync(path, 0),
    (path: string) => writeFileSync(path, 'x'.repeat(statSync(path).size)),
    (path: string) => writeFileSync(path, 'x'.repeat(statSync(path).size + 5)),
  ]) {
    await using home = await openHome()
    const { id, cursor } = await home.storage.createSession(makeHeader(), [toLine('one')])
    change(home.file(id))
    const before = readFileSync(home.file(id))
    await assert.rejects(home.storage.append(id, cursor, [toLine('two')]), { kind: 'conflict' })
    assert.deepEqual(readFileSync(home.file(id)), before)
  }
})

test('concurrent append() and deleteSession() never recreate the file', async () => {
  await using home = await openHome()
  for (let round = 0; round < 50; round += 1) {
    const { id, cursor } = await home.storage.createSession(makeHeader(), [])
    const appending = home.storage.append(id, cursor, [toLine('one')]).catch((reason) => reason.kind)
    const [outcome] = await Promise.all([appending, home.storage.deleteSession(id)])
    assert.ok(outcome === 'missing' || outcome.seq === 1, String(outcome))
    assert.equal(existsSync(home.file(id)), false)
  }
})

test('a full disk loses nothing, leaves nothing behind, and recovers', async () => {
  using disk = mountSmallDisk(64)
  if (!disk) return // processes.test.ts does the same with a limit on the size of files, which needs no privileges
  const storage = openStorage(disk.path)
  const { id, cursor } = await storage.createSession(makeHeader(), [toLine('one')])
  const file = join(disk.path, 'sessions', `${id}.jsonl`)
  const before = readFileSync(file)
  const large = [toLine('x'.repeat(100_000))]
  await assert.rejects(storage.append(id, cursor, large), { kind: 'storage', hint: /free some space/ })
  await assert.rejects(storage.createSession(makeHeader(), large), {
    kind: 'storage',
    hint: /free some space/,
  })
  assert.deepEqual(readFileSync(file), before)
  assert.deepEqual(readdirSync(join(disk.path, 'sessions')), [`${id}.jsonl`])
  await storage.append(id, cursor, [toLine('two')])
  assert.equal((await storage.read(id)).lines.length, 2)
})

test('a read-only disk can be read and listed; writing fails with storage', async () => {
  await using home = await openHome()
  const first = await home.storage.createSession(makeHeader(), [toLine('one')])
  const { id, cursor } = await home.storage.createSession(makeHeader(), [toLine('two')])
  using mount = mountReadOnly(home.path)
  if (!mount) return // the next test uses a disk that is read-only for everyone
  const storage = openStorage(mount.path)
  assert.equal((await storage.read(id)).lines.length, 1)
  assert.equal(await storage.activeSession(pair), id)
  assert.deepEqual(
    (await storage.listSessions({})).map((row) => row.id),
    [id, first.id],
  )
  const refusal = { kind: 'storage', message: /read-only/ }
  await assert.rejects(storage.append(id, cursor, [toLine('no')]), refusal)
  await assert.rejects(storage.createSession(makeHeader(), []), refusal)
  await assert.rejects(storage.deleteSession(id), refusal)
})

test('impossible folders are a storage error, and a missing folder is an empty home', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await writeFile(join(dir.path, 'file'), '')
  const none = openStorage(join(dir.path, 'none'))
  assert.deepEqual(await none.listSessions({}), [])
  assert.equal(await none.activeSession(pair), undefined)
  assert.deepEqual(readdirSync(dir.path), ['file'])
  await assert.rejects(openStorage(join(dir.path, 'file')).listSessions({}), { kind: 'storage' })
  for (const path of [join(dir.path, 'file'), '/proc/self']) {
    await assert.rejects(openStorage(path).createSession(makeHeader(), []), { kind: 'storage' })
  }
})

test('a folder or an unknown file among the sessions does no harm', async () => {
  await using home = await openHome()
  const { id } = await home.storage.createSession(makeHeader(), [])
  const odd = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`
  await mkdir(join(home.sessions, `${odd}.jsonl`))
  await writeFile(join(home.sessions, `${id}.jsonl.0a1b2c.tmp`), 'half')
  await writeFile(join(home.sessions, 'notes.txt'), 'mine')
  assert.deepEqual(
    (await home.storage.listSessions({})).map((row) => row.id),
    [id],
  )
  assert.equal(await home.storage.activeSession(pair), id)
  await assert.rejects(home.storage.read(odd), { kind: 'storage' })
})

test('read() during a write returns whole lines only', async () => {
  await using home = await openHome()
  const { id, cursor } = await home.storage.createSession(makeHeader(), [])
  const reader = openStorage(home.path)
  let isDone = false
  const writing = appendMany(home.storage, id, cursor, 100).finally(() => {
    isDone = true
  })
  let since = cursor
  let count = 0
  while (!isDone || since.seq < 100) {
    const part = await reader.read(id, since)
    assert.deepEqual([part.whole, part.warnings], [false, []])
    count += part.lines.length
    since = part.cursor
  }
  assert.deepEqual(since, await writing)
  assert.equal(count, 100)
})

async function appendMany(
  storage: DiskStorage,
  id: string,
  from: ReadPosition,
  count: number,
): Promise<ReadPosition> {
  let cursor = from
  for (let index = 0; index < count; index += 1) {
    cursor = await storage.append(id, cursor, [toLine('x'.repeat(index * 50))])
  }
  return cursor
}

async function openHome() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const sessions = join(dir.path, 'sessions')
  return {
    path: dir.path,
    sessions,
    storage: openStorage(dir.path),
    file: (id: string) => join(sessions, `${id}.jsonl`),
    [Symbol.asyncDispose]: () => dir.remove(),
  }
}

function openStorage(home: string): DiskStorage {
  return new DiskStorage({ sessions: join(home, 'sessions'), index: join(home, 'index') })
}
