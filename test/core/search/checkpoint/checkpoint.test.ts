import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  loadCheckpoint,
  removeLeftovers,
  saveCheckpoint,
} from '../../../../src/core/search/checkpoint/checkpoint.ts'
import type { PartToSave, SavedPart } from '../../../../src/core/search/checkpoint/types.ts'
import { mountSmallDisk } from '../../../support/small-disk.ts'

const signal = new AbortController().signal

test('loadCheckpoint() returns the saved parts in order, in memory that threads can share', async () => {
  await using home = await openFolder()
  const files = await home.save(makePart('segment', 1), makePart('segment', 2), makePart('dictionary', 3))
  const parts = await home.load()
  assert.deepEqual(summarize(parts), ['segment 1', 'segment 2', 'dictionary 3'])
  assert.deepEqual(
    parts?.map(({ file }) => file),
    files,
  )
  assert.deepEqual(parts?.[1]?.part.arrays, makePart('segment', 2).part.arrays)
  for (const { part } of parts!) assert.ok(part.arrays['numbers']!.buffer instanceof SharedArrayBuffer)
  assert.deepEqual(home.told, [])
})

test('loadCheckpoint() returns nothing for a missing folder, and logs nothing', async () => {
  await using home = await openFolder()
  rmSync(home.folder, { recursive: true })
  assert.equal(await home.load(), undefined)
  assert.deepEqual(home.told, [])
})

test('saveCheckpoint() keeps the listed files, writes the others, and removes unused ones', async () => {
  await using home = await openFolder()
  const [first, second] = await home.save(makePart('segment', 1), makePart('state', 2))
  const before = statSync(join(home.folder, first!))
  const files = await home.save({ ...makePart('segment', 1), file: first! }, makePart('state', 3))
  assert.equal(files[0], first)
  assert.equal(statSync(join(home.folder, first!)).mtimeMs, before.mtimeMs)
  assert.notEqual(files[1], second)
  assert.deepEqual(readdirSync(home.folder).toSorted(), ['manifest', ...files].toSorted())
  assert.deepEqual(summarize(await home.load()), ['segment 1', 'state 3'])
})

test('saveCheckpoint() rewrites a part whose file is missing, truncated, or foreign', async () => {
  await using home = await openFolder()
  const [gone, cut] = await home.save(makePart('segment', 1), makePart('segment', 2))
  rmSync(join(home.folder, gone!))
  truncateSync(join(home.folder, cut!), 20)
  await home.save(
    { ...makePart('segment', 1), file: gone! },
    { ...makePart('segment', 2), file: cut! },
    { ...makePart('segment', 3), file: '../elsewhere' },
  )
  assert.deepEqual(summarize(await home.load()), ['segment 1', 'segment 2', 'segment 3'])
})

test('saveCheckpoint() creates private files', async () => {
  await using home = await openFolder()
  const [file] = await home.save(makePart('segment', 1))
  for (const name of [file!, 'manifest']) {
    assert.equal(statSync(join(home.folder, name)).mode & 0o777, 0o600)
  }
})

test('loadCheckpoint() returns the previous generation while the next one has no manifest', async () => {
  await using home = await openFolder()
  await home.save(makePart('segment', 1))
  writeFileSync(join(home.folder, '01KAM0000000000000000000AA.part'), 'half a part')
  writeFileSync(join(home.folder, 'manifest.01KAM0000000000000000000AA.tmp'), 'half a manifest')
  assert.deepEqual(summarize(await home.load()), ['segment 1'])
  await removeLeftovers(home.folder)
  assert.equal(readdirSync(home.folder).length, 2)
  assert.deepEqual(summarize(await home.load()), ['segment 1'])
})

const DAMAGES: Record<string, (folder: string, files: readonly string[]) => void> = {
  'a part with another byte': (folder, [first]) => flip(join(folder, first!), 40),
  'a part that is shorter': (folder, [first]) => truncateSync(join(folder, first!), 100),
  'a part that is gone': (folder, [first]) => rmSync(join(folder, first!)),
  'another part of the same length in its place': (folder, [first, second]) =>
    copyFileSync(join(folder, second!), join(folder, first!)),
  'a folder in place of a part': (folder, [first]) => {
    rmSync(join(folder, first!))
    mkdirSync(join(folder, first!))
  },
  'a pipe in place of a part': (folder, [first]) => {
    rmSync(join(folder, first!))
    execFileSync('mkfifo', [join(folder, first!)])
  },
  'a part larger than memory': (folder, [first]) => truncateSync(join(folder, first!), 2 ** 40),
  'a link in a circle': (folder, [first]) => {
    rmSync(join(folder, first!))
    symlinkSync(first!, join(folder, first!))
  },
  'a manifest with another byte': (folder) => flip(join(folder, 'manifest'), 60),
  'a manifest cut short': (folder) => truncateSync(join(folder, 'manifest'), 30),
  'an empty manifest': (folder) => truncateSync(join(folder, 'manifest'), 0),
  'a folder in place of the manifest': (folder) => {
    rmSync(join(folder, 'manifest'))
    mkdirSync(join(folder, 'manifest'))
  },
  'a manifest of a terabyte': (folder) => truncateSync(join(folder, 'manifest'), 2 ** 40),
}
for (const [what, damage] of Object.entries(DAMAGES)) {
  test(`loadCheckpoint() reports ${what}, and the next save repairs it`, async () => {
    await using home = await openFolder()
    damage(home.folder, await home.save(makePart('segment', 1), makePart('segment', 2)))
    assert.equal(await home.load(), undefined)
    assert.equal(home.told.length, 1)
    assert.match(home.told[0]!, /^The search index in .+ is being rebuilt: ./)
    await home.save(makePart('segment', 3))
    assert.deepEqual(summarize(await home.load()), ['segment 3'])
    assert.equal(readdirSync(home.folder).length, 2)
  })
}

test('loadCheckpoint() ignores files of another version', async () => {
  await using home = await openFolder()
  await home.save(makePart('segment', 1))
  const messages: string[] = []
  const place = { folder: home.folder, maker: 'a newer one' }
  assert.equal(await loadCheckpoint(place, (_, message) => messages.push(message)), undefined)
  assert.match(messages[0]!, /a different version of the program wrote it$/)
})

test('saveCheckpoint() that is aborted leaves the previous generation, and nothing else', async () => {
  await using home = await openFolder()
  await home.save(makePart('segment', 1))
  const stop = new AbortController()
  const saving = saveCheckpoint(home.place, [makePart('segment', 2), makePart('segment', 3)], stop.signal)
  stop.abort()
  await assert.rejects(saving, { name: 'AbortError' })
  assert.deepEqual(summarize(await home.load()), ['segment 1'])
  assert.equal(readdirSync(home.folder).length, 2)
})

test('saveCheckpoint() on a full disk fails with `storage`, and leaves the previous generation', async () => {
  using disk = mountSmallDisk(1024)
  if (!disk) return // this user may not mount one
  const place = { folder: join(disk.path, 'index'), maker: 'test' }
  await saveCheckpoint(place, [makePart('segment', 1)], signal)
  const large: PartToSave = { role: 'segment', part: { facts: {}, arrays: { a: new Uint8Array(64 << 20) } } }
  await assert.rejects(saveCheckpoint(place, [large], signal), {
    kind: 'storage',
    message: /the disk is full/,
  })
  assert.deepEqual(summarize(await loadCheckpoint(place, () => {})), ['segment 1'])
  assert.equal(readdirSync(place.folder).length, 2)
})

test('loadCheckpoint() returns one whole generation while others replace it', async () => {
  await using home = await openFolder()
  await home.save(makePart('segment', 0), makePart('state', 0))
  let isOver = false
  const writer = (async () => {
    for (let n = 1; n <= 60; n++) await home.save(makePart('segment', n), makePart('state', n))
    isOver = true
  })()
  while (!isOver) {
    const [segment, state] = (await home.load()) ?? []
    assert.ok(segment && state, home.told.join())
    assert.equal(segment.part.facts['n'], state.part.facts['n'])
  }
  await writer
})

function makePart(role: string, n: number): PartToSave {
  return { role, part: { facts: { n }, arrays: { numbers: new Uint32Array(100).fill(n) } } }
}

function summarize(parts: readonly SavedPart[] | undefined): string[] | undefined {
  return parts?.map(({ role, part }) => `${role} ${part.facts['n']}`)
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at]! ^= 1
  writeFileSync(path, bytes)
}

/** Creates a folder for checkpoints, and records what is logged about them. */
async function openFolder() {
  const home = await mkdtempDisposable(join(tmpdir(), 'crab-checkpoint-'))
  const folder = join(home.path, 'index')
  mkdirSync(folder)
  chmodSync(folder, 0o700)
  const place = { folder, maker: 'test' }
  const messages: string[] = []
  return {
    folder,
    place,
    told: messages,
    save: (...parts: PartToSave[]) => saveCheckpoint(place, parts, signal),
    load: () => loadCheckpoint(place, (_, message) => messages.push(message)),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  }
}
