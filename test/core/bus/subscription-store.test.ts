import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { SubscriptionStore } from '../../../src/core/bus/subscription-store.ts'
import { MAX_SUBSCRIPTIONS, type Subscription } from '../../../src/core/bus/subscriptions.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { mountReadOnly } from '../../support/small-disk.ts'
import { type BusHome, busHome } from './bus-home.ts'

const NEVER = new AbortController().signal
const run = promisify(execFile)
const SCOUT = { source: 'agent:scout:done', target_agent: 'crab', once: false }

test('read() is empty without a file, and creates none', async () => {
  await using home = await openHome()
  assert.deepEqual(await home.open().read(), { subscriptions: [], problem: undefined })
  await assert.rejects(home.read(), { code: 'ENOENT' })
})

test('add() returns the next id, and writes a private, documented file that other processes can read', async () => {
  await using home = await openHome()
  const [store, other] = [home.open(), home.open()]
  assert.deepEqual(await store.add(SCOUT, NEVER), { id: 1, ...SCOUT })
  await other.add({ source: 'rss:fetch', target_agent: 'scout', once: true }, NEVER)
  assert.equal(
    await home.read(),
    `next_id = 3

[[subscription]]
id = 1
source = "agent:scout:done"
target_agent = "crab"
once = false

[[subscription]]
id = 2
source = "rss:fetch"
target_agent = "scout"
once = true
`,
  )
  assert.equal((await stat(home.file)).mode & 0o777, 0o600)
  assert.deepEqual(await store.read(), await other.read())
  assert.equal((await store.read()).subscriptions.length, 2)
})

test('remove() succeeds for one caller per id, and an id is never reused', async () => {
  await using home = await openHome()
  const [store, other] = [home.open(), home.open()]
  const again = (number: number) => ({ ...SCOUT, source: `s${number}` })
  for (let index = 0; index < 3; index++) await store.add(again(index), NEVER)
  const removed = await Promise.all([store, other, store].map((one) => one.remove([2, 3, 9], NEVER)))
  assert.deepEqual(removed.flat().sort(), [2, 3])
  assert.equal((await other.add(SCOUT, NEVER)).id, 4)
  await store.remove([1, 4], NEVER)
  assert.equal((await store.add(SCOUT, NEVER)).id, 5)
})

test('add() returns an equal existing subscription, and writes nothing', async () => {
  await using home = await openHome()
  const [store, other] = [home.open(), home.open()]
  const added = await store.add(SCOUT, NEVER)
  const before = await home.read()
  assert.deepEqual(await Promise.all([store, other].map((one) => one.add(SCOUT, NEVER))), [added, added])
  assert.equal(await home.read(), before)
  for (const more of [{ once: true }, { source: 'rss' }, { target_agent: 'scout' }])
    assert.notEqual((await store.add({ ...SCOUT, ...more }, NEVER)).id, added.id)
})

test('manual edits survive: comments, order, keys with default values', async () => {
  await using home = await openHome()
  const text = `# mine

[[subscription]] # first
id = 7
source = "a"
target_agent = 'crab'

# the one that goes
[[subscription]]
id = 3
source = "b"
target_agent = "crab"
`
  await home.write(text)
  const store = home.open()
  assert.deepEqual((await store.read()).subscriptions, [
    { id: 7, source: 'a', target_agent: 'crab', once: false },
    { id: 3, source: 'b', target_agent: 'crab', once: false },
  ])
  assert.equal((await store.add(SCOUT, NEVER)).id, 8)
  await store.remove([8, 3], NEVER)
  assert.equal(
    (await home.read()).trim(),
    `# mine

next_id = 9

[[subscription]] # first
id = 7
source = "a"
target_agent = 'crab'`,
  )
})

test('a broken file keeps the entries read before, says why, and is never overwritten', async () => {
  await using home = await openHome()
  const store = home.open()
  await store.add(SCOUT, NEVER)
  const { subscriptions } = await store.read()
  for (const [text, message] of BROKEN) {
    await home.write(text)
    const standing = await store.read()
    assert.deepEqual(standing.subscriptions, subscriptions)
    assert.equal(standing.problem?.kind, 'config')
    assert.match(standing.problem?.message ?? '', message)
    await assert.rejects(store.add(SCOUT, NEVER), { kind: 'config', message })
    await assert.rejects(store.remove([1], NEVER), { kind: 'config', message })
    assert.equal(await home.read(), text)
  }
  await home.write('[[subscription]]\nid = 4\nsource = "x"\ntarget_agent = "crab"\n')
  const mended = await store.read()
  assert.deepEqual([mended.problem, mended.subscriptions.map(({ id }) => id)], [undefined, [4]])
  await rm(home.file)
  assert.deepEqual((await store.read()).subscriptions, [])
})

const BROKEN: readonly (readonly [string, RegExp])[] = [
  ['[[subscription]\n', /^events\/subscriptions\.toml:1:\d+: not valid TOML/],
  ['[[subscription]]\nid = 1\nsource = "a"\n', /^events\/subscriptions\.toml:1: .*target_agent/],
  [
    '[[subscription]]\nid = 1\nsource = "a"\ntarget_agnet = "crab"\ntarget_agent = "crab"\n',
    /^events\/subscriptions\.toml:4: unknown key "subscription\[0\]\.target_agnet"/,
  ],
  [
    '[[subscription]]\nid = 1\nsource = ""\ntarget_agent = "crab"\n',
    /^events\/subscriptions\.toml:3: .*is not an event source/,
  ],
  [
    '[[subscription]]\nid = 1\nsource = "a"\ntarget_agent = "crab"\n\n[[subscription]]\nid = 1\nsource = "b"\ntarget_agent = "crab"\n',
    /^events\/subscriptions\.toml:7: .*is already used by another subscription/,
  ],
  ['subscriptions = []\n', /^events\/subscriptions\.toml:1: unknown key "subscriptions"/],
]

test('read() clears the problem of a file that is removed or restored', async () => {
  await using home = await openHome()
  const store = home.open()
  await home.write('broken')
  assert.equal((await store.read()).problem?.kind, 'config')
  await rm(home.file)
  assert.deepEqual(await store.read(), { subscriptions: [], problem: undefined })
  await store.add(SCOUT, NEVER)
  const good = await store.read()
  await rename(home.file, `${home.file}.aside`)
  await home.write('broken')
  assert.equal((await store.read()).problem?.kind, 'config')
  await rename(`${home.file}.aside`, home.file)
  assert.deepEqual(await store.read(), good)
})

test('add() rejects an invalid source, and more than the maximum', async () => {
  await using home = await openHome()
  const store = home.open()
  for (const source of ['', 'a\nb', 'a\u0007', 'é'.repeat(129)])
    await assert.rejects(store.add({ ...SCOUT, source }, NEVER), { kind: 'invalid' })
  assert.equal((await store.add({ ...SCOUT, source: 'é'.repeat(128) }, NEVER)).id, 1)
  const one = (id: number) => `[[subscription]]\nid = ${id}\nsource = "a${id}"\ntarget_agent = "crab"\n`
  await home.write(Array.from({ length: MAX_SUBSCRIPTIONS }, (_, index) => one(index + 1)).join('\n'))
  await assert.rejects(store.add(SCOUT, NEVER), { kind: 'conflict', message: /there are 1000 subscriptions/ })
  await store.remove([1000], NEVER)
  assert.equal((await store.add(SCOUT, NEVER)).id, 1001)
})

test('renameAgent() updates targets and the ends of turns, and no other text', async () => {
  await using home = await openHome()
  const store = home.open()
  assert.equal(await store.renameAgent('scout', 'finder', NEVER), 0)
  const sources = ['agent:scout:done', 'agent:scout:failed', 'agent:scout:else', 'agent:scouts:done', 'scout']
  for (const source of sources) await store.add({ source, target_agent: 'crab', once: false }, NEVER)
  await store.add({ source: 'rss', target_agent: 'scout', once: true }, NEVER)
  assert.equal(await store.renameAgent('scout', 'finder', NEVER), 3)
  assert.deepEqual(
    (await store.read()).subscriptions.map(({ source, target_agent }) => `${source} ${target_agent}`),
    [
      'agent:finder:done crab',
      'agent:finder:failed crab',
      'agent:scout:else crab',
      'agent:scouts:done crab',
      'scout crab',
      'rss finder',
    ],
  )
})

test('a read-only folder is a storage error, and the existing entries stay', async () => {
  await using home = await openHome()
  await home.open().add(SCOUT, NEVER)
  using mount = mountReadOnly(dirname(home.file))
  if (!mount) return
  const path = join(mount.path, basename(home.file))
  const store = new SubscriptionStore({ path, lock: async () => new AsyncDisposableStack() })
  await assert.rejects(store.add({ ...SCOUT, source: 'rss' }, NEVER), { kind: 'storage' })
  assert.equal((await store.read()).subscriptions.length, 1)
})

test('3 processes that subscribe and unsubscribe concurrently lose nothing and share no id', async () => {
  await using home = await openHome()
  const program = join(import.meta.dirname, 'subscribe-program.ts')
  const names = ['p0', 'p1', 'p2']
  await Promise.all(names.map((name) => run(process.execPath, [program, home.folder, name, '10'])))
  const { subscriptions } = await home.open().read()
  const left = subscriptions.map(({ source }) => source).sort()
  assert.deepEqual(left, names.flatMap((name) => [0, 2, 4, 6, 8].map((index) => `${name}:${index}`)).sort())
  assert.equal(new Set(subscriptions.map(({ id }) => id)).size, 15)
  assert.match(await home.read(), /^next_id = 31$/m)
})

type Step =
  | { do: 'add'; source: string; once: boolean; by: number }
  | { do: 'remove'; at: number; by: number }
  | { do: 'rename'; from: string; to: string; by: number }

const agent = fc.constantFrom('crab', 'scout', 'ü-1')
const by = fc.integer({ min: 0, max: 1 })
const source = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => !/\p{Cc}|\p{Cs}/u.test(text))
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('add' as const), source, once: fc.boolean(), by }),
  fc.record({ do: fc.constant('remove' as const), at: fc.nat(5), by }),
  fc.record({ do: fc.constant('rename' as const), from: agent, to: agent, by }),
)

test('two stores and a list in memory agree after any changes, and a comment survives them all', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      await using home = await openHome()
      await home.write('# kept\n\n')
      const stores = [home.open(), home.open()]
      let model: Subscription[] = []
      for (const one of steps) model = await apply(one, stores[one.by]!, model)
      for (const store of stores) assert.deepEqual((await store.read()).subscriptions, model)
      assert.match(await home.read(), /^# kept\n/)
    }),
    { numRuns: propertyRuns(300, 30) },
  )
})

async function apply(one: Step, store: SubscriptionStore, model: Subscription[]): Promise<Subscription[]> {
  if (one.do === 'add') {
    const added = await store.add({ source: one.source, target_agent: 'crab', once: one.once }, NEVER)
    return model.some(({ id }) => id === added.id) ? model : [...model, added]
  }
  if (one.do === 'remove') {
    const id = model[one.at]?.id
    assert.deepEqual(await store.remove([id ?? 999_999], NEVER), id === undefined ? [] : [id])
    return model.filter((kept) => kept.id !== id)
  }
  await store.renameAgent(one.from, one.to, NEVER)
  return model.map((kept) => (kept.target_agent === one.from ? { ...kept, target_agent: one.to } : kept))
}

async function openHome(): Promise<BusHome & { folder: string }> {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const home = busHome(dir.path)
  return {
    ...home,
    folder: dir.path,
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]()
      await dir.remove()
    },
  }
}
