import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { SessionFolder } from '../../../src/core/storage/session-folder.ts'

const ONE = '0123456789abcdef-01J00000000000000000000001'
const TWO = '0123456789abcdef-01J00000000000000000000002'
const OTHER = 'fedcba9876543210-01J00000000000000000000003'

for (const isWatched of [false, true]) {
  suite(isWatched ? 'a watched SessionFolder' : 'a SessionFolder', () => {
    test('refresh() and stamp() see files that others create, append to, replace and delete', async () => {
      await using home = await openFolder({ isWatched })
      const { folder, write } = home
      assert.deepEqual(await home.seen(), {})
      write(ONE, 'a\n')
      write(OTHER, 'bb\n')
      assert.deepEqual(await home.seen(), { [ONE]: 2, [OTHER]: 3 })
      assert.deepEqual(await home.seen(), { [ONE]: 2, [OTHER]: 3 })
      appendFileSync(folder.file(ONE), 'more\n')
      assert.deepEqual(await home.seen(), { [ONE]: 7, [OTHER]: 3 })
      const { ino } = folder.stamp(ONE)!
      write(TWO, 'another\n')
      renameSync(folder.file(TWO), folder.file(ONE))
      assert.deepEqual(await home.seen(), { [ONE]: 8, [OTHER]: 3 })
      assert.notEqual(folder.stamp(ONE)!.ino, ino)
      rmSync(folder.file(OTHER))
      assert.deepEqual(await home.seen(), { [ONE]: 8 })
      assert.equal(folder.stamp(OTHER), undefined)
    })

    test('refresh() skips other files', async () => {
      await using home = await openFolder({ isWatched })
      writeFileSync(join(home.path, `${ONE}.jsonl.tmp`), '')
      writeFileSync(join(home.path, 'notes.txt'), '')
      assert.deepEqual(await home.seen(), {})
      writeFileSync(join(home.path, `${ONE}.jsonl`), 'a\n')
      assert.deepEqual(await home.seen(), { [ONE]: 2 })
    })

    test('refresh() follows a recreated folder', async () => {
      await using home = await openFolder({ isWatched })
      home.write(ONE, 'a\n')
      assert.deepEqual(await home.seen(), { [ONE]: 2 })
      rmSync(home.path, { recursive: true })
      assert.deepEqual(await home.seen(), {})
      mkdirSync(home.path)
      home.write(TWO, 'bb\n')
      assert.deepEqual(await home.seen(), { [TWO]: 3 })
      appendFileSync(home.folder.file(TWO), 'c\n')
      assert.deepEqual(await home.seen(), { [TWO]: 5 })
    })

    test('listIds() returns the current sessions of one pair', async () => {
      await using home = await openFolder({ isWatched })
      for (const id of [ONE, OTHER, TWO]) home.write(id, '')
      const found = await home.folder.listIds('0123456789abcdef-')
      assert.deepEqual(found.toSorted(), [ONE, TWO])
    })
  })
}

test('a watched SessionFolder checks everything again after half a minute', async () => {
  let now = 1_000_000
  await using home = await openFolder({ isWatched: true, now: () => now })
  home.write(ONE, 'a\n')
  const before = await home.stampOf(ONE)
  const file = statSync(home.folder.file(ONE))
  assert.equal(await home.stampOf(ONE), before, 'nothing happened: it is not looked at again')
  now += 30_000
  const after = await home.stampOf(ONE)
  assert.notEqual(after, before)
  assert.equal(after?.ino, file.ino)
})

test('a watched SessionFolder sees the final state of a file that changed repeatedly', async () => {
  await using home = await openFolder({ isWatched: true })
  home.write(ONE, 'a\n')
  await home.seen()
  for (let index = 0; index < 200; index += 1) {
    appendFileSync(home.folder.file(ONE), 'line\n')
    utimesSync(home.folder.file(ONE), 1e9, 1e9)
  }
  assert.deepEqual(await home.seen(), { [ONE]: 1002 })
})

async function openFolder(options: { isWatched: boolean; now?: () => number }) {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const path = join(dir.path, 'sessions')
  mkdirSync(path)
  const folder = new SessionFolder({ path, ...options })
  return {
    path,
    folder,
    write: (id: string, text: string) => writeFileSync(folder.file(id), text),
    /** Returns the size of every session's file. */
    async seen() {
      const ids = await folder.refresh()
      return Object.fromEntries(ids.toSorted().map((id) => [id, folder.stamp(id)?.size]))
    },
    async stampOf(id: string) {
      await folder.refresh()
      return folder.stamp(id)
    },
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]()
      await dir.remove()
    },
  }
}
