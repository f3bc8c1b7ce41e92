import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLeases } from '../../../src/core/lease/memory-leases.ts'
import { TrustStore } from '../../../src/core/trust/trust-store.ts'
import { type TemporaryHome, temporaryHome } from '../../support/temporary-home.ts'

const NEVER = new AbortController().signal

test('TrustStore remembers states and notices, and forgets them', async () => {
  await using home = await temporaryHome()
  const store = openStore(home)
  assert.equal((await store.read()).size, 0)
  await store.addNotices('/a', ['AGENTS.md'], NEVER)
  await store.setState('/b', 'trusted', NEVER)
  await store.addNotices('/b', ['x: is a link'], NEVER)
  await store.addNotices('/a', ['AGENTS.md', 'Crab.md'], NEVER)
  const since = '1970-01-01T00:00:00.000Z'
  assert.deepEqual(
    [...(await openStore(home).read()).values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    [
      { path: '/a', state: 'notified', since, notices: ['AGENTS.md', 'Crab.md'] },
      { path: '/b', state: 'trusted', since, notices: ['x: is a link'] },
    ],
  )
  await store.setState('/a', 'untrusted', NEVER)
  assert.deepEqual((await store.read()).get('/a')?.notices, ['AGENTS.md', 'Crab.md'])
  assert.deepEqual([await store.remove('/a', NEVER), await store.remove('/a', NEVER)], [true, false])
  assert.deepEqual([...(await store.read()).keys()], ['/b'])
})

test('TrustStore distinguishes paths with any characters', async () => {
  await using home = await temporaryHome()
  const store = openStore(home)
  const paths = ['/a b', '/a"b', "/a'b", '/a\nb', '/ä', '/a\\b', '/__proto__', '/a.b', '/a]b']
  for (const path of paths) await store.setState(path, 'trusted', NEVER)
  assert.deepEqual([...(await store.read()).keys()].toSorted(), paths.toSorted())
})

test('TrustStore supports concurrent writers', async () => {
  await using home = await temporaryHome()
  const leases = new MemoryLeases()
  const stores = [openStore(home, leases), openStore(home, leases)]
  const paths = Array.from({ length: 20 }, (_, at) => `/p${at}`)
  await Promise.all(paths.map((path, at) => stores[at % 2]!.setState(path, 'trusted', NEVER)))
  assert.equal((await stores[0]!.read()).size, 20)
})

test('TrustStore keeps at most 1,000 folders, and every answer of the user', async () => {
  await using home = await temporaryHome()
  const entry = (at: number, state: string) =>
    `[[project]]\npath = "/${state}${at}"\nstate = "${state}"\nsince = "20${10 + (at % 90)}"\n`
  const list = Array.from({ length: 500 }, (_, at) => [entry(at, 'notified'), entry(at, 'untrusted')]).flat()
  await home.write('trust.toml', list.join('\n'))
  const store = openStore(home)
  await store.addNotices('/new', [], NEVER).catch(() => assert.fail())
  await store.setState('/newer', 'trusted', NEVER)
  const all = [...(await store.read()).values()]
  assert.equal(all.length, 1000)
  assert.equal(all.filter(({ state }) => state === 'untrusted').length, 500)
})

test('TrustStore keeps the last 100 notices of a folder', async () => {
  await using home = await temporaryHome()
  const store = openStore(home)
  await store.addNotices(
    '/a',
    Array.from({ length: 150 }, (_, at) => `file ${at}`),
    NEVER,
  )
  const { notices = [] } = (await store.read()).get('/a') ?? {}
  assert.deepEqual([notices.length, notices[0], notices.at(-1)], [100, 'file 50', 'file 149'])
})

test('TrustStore reports the line of an error, and leaves the file unchanged', async () => {
  await using home = await temporaryHome()
  const text = '[[project]]\npath = "/a"\nstate = "maybe"\nsince = "2026"\n'
  await home.write('trust.toml', text)
  const store = openStore(home)
  await assert.rejects(store.read(), {
    kind: 'config',
    message: /^trust\.toml:3: .*state.* must be one of trusted, untrusted, notified/,
  })
  await assert.rejects(store.setState('/b', 'trusted', NEVER), { kind: 'config' })
  assert.equal(await home.read('trust.toml'), text)
})

function openStore({ paths }: TemporaryHome, leases = new MemoryLeases()): TrustStore {
  const lock = (resource: string, signal: AbortSignal) => leases.take(resource, signal)
  return new TrustStore({ path: paths.trust, lock, now: () => 0 })
}
