import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openWindowMemory } from '../../../src/commands/chat/window-memory.ts'

const DRAFT = { agent: 'crab', sender: 'sh:1', cwd: '/work', text: 'half a thought', pasted: ['half'] }

test('a window finds the drafts of other windows, newest first, but not its own', async () => {
  await using cache = await makeCache()
  const [one, two, three] = [
    openWindowMemory(cache.path),
    openWindowMemory(cache.path),
    openWindowMemory(cache.path),
  ]
  await one.saveDraft(DRAFT)
  await two.saveDraft({ ...DRAFT, text: 'another' })
  const [older] = await two.readDrafts()
  assert.equal(older?.text, DRAFT.text)
  await utimes(join(cache.drafts, `${older!.id}.json`), 1_700_000_000, Date.now() / 1000 - 60)
  const texts = async (memory: typeof one) => (await memory.readDrafts()).map(({ text }) => text)
  assert.deepEqual(await texts(three), ['another', 'half a thought'])
  assert.deepEqual(await texts(one), ['another'])
  await one.saveDraft(undefined)
  assert.deepEqual(await texts(three), ['another'])
  const [last] = await three.readDrafts()
  await three.removeDraft(last!.id)
  assert.deepEqual(await readdir(cache.drafts), [])
})

test('drafts are private files; old, foreign and broken ones are never offered', async () => {
  await using cache = await makeCache()
  const one = openWindowMemory(cache.path)
  await one.saveDraft(DRAFT)
  const [name = ''] = await readdir(cache.drafts)
  const path = join(cache.drafts, name)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  for (const [file, text] of [
    ['torn.json', '{"agent":"crab","te'],
    ['other.json', '{"agent":"crab"}'],
    ['queue.json', JSON.stringify({ ...DRAFT, queue: ['bare'] })],
    ['steers.json', JSON.stringify({ ...DRAFT, steers: [{ text: 'a', pasted: [], content: 1 }] })],
    ['note.txt', JSON.stringify(DRAFT)],
  ] as const)
    await writeFile(join(cache.drafts, file), text)
  const two = openWindowMemory(cache.path)
  assert.deepEqual(
    (await two.readDrafts()).map(({ text }) => text),
    [DRAFT.text],
  )
  const old = Date.now() / 1000 - 31 * 86_400
  await utimes(path, old, old)
  assert.deepEqual(await two.readDrafts(), [])
  assert.equal((await readdir(cache.drafts)).includes(name), false)
})

test('conversations are remembered by the time they were last seen', async () => {
  await using cache = await makeCache()
  const memory = openWindowMemory(cache.path)
  assert.deepEqual([...(await memory.readLookedAt())], [])
  const before = Date.now()
  await memory.markLookedAt('abc-01J')
  await memory.markLookedAt('../escape')
  const looked = await memory.readLookedAt()
  assert.deepEqual([...looked.keys()], ['abc-01J'])
  assert.ok(looked.get('abc-01J')! >= before - 1)
})

test('windows of a home that cannot be written remember nothing, and do not fail', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await writeFile(join(folder.path, 'file'), '')
  const memory = openWindowMemory(join(folder.path, 'file', 'cache'))
  await memory.saveDraft(DRAFT)
  await memory.markLookedAt('abc')
  await mkdir(join(folder.path, 'other'))
  assert.deepEqual([await memory.readDrafts(), [...(await memory.readLookedAt())]], [[], []])
})

/** Returns an empty cache folder, and the place of the drafts in it. */
async function makeCache(): Promise<{ path: string; drafts: string } & AsyncDisposable> {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const drafts = join(folder.path, 'chat', 'drafts')
  await mkdir(drafts, { recursive: true })
  return { path: folder.path, drafts, [Symbol.asyncDispose]: () => folder.remove() }
}
