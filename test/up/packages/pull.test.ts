import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { homePaths } from '../../../src/core/config/paths.ts'
import { findUpdates, pullComponent, removePackage } from '../../../src/up/packages/components.ts'
import { installedService, installedServices } from '../../../src/up/packages/installed.ts'
import { type TestPorts, testPorts } from '../../support/package-ports.ts'
import { componentFiles, openRegistry, type Registry } from '../../support/registry.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { type TemporaryHome, temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

const { signal } = new AbortController()
let registry: Registry
let published: Record<string, { folder: string; tarball: string }>

before(async () => {
  registry = await openRegistry()
  const echo = (version: string, more = {}) => ({
    manifest: {
      name: 'crabtalk-echo',
      version,
      type: 'module',
      description: 'Says it again',
      bin: 'main.mjs',
      ...more,
    },
    files: {
      ...componentFiles('echo'),
      'ran.mjs': `import fs from 'node:fs'; fs.writeFileSync('/tmp/never', '')`,
    },
  })
  const several = { bin: { one: 'main.mjs', two: 'main.mjs' } }
  const scripts = { scripts: { postinstall: 'touch "$HOME/ran"' } }
  const named = (name: string, more = {}) => ({
    ...echo('1.0.0', more),
    manifest: { ...echo('1.0.0', more).manifest, name },
  })
  const longPackage = (version: string) => ({
    manifest: { name: 'crab-wordy', version, description: 'so '.repeat(150_000) },
  })
  const names = [
    'one',
    'two',
    'dep',
    'bare',
    'many',
    'word',
    'taken',
    'gone',
    'cut',
    'w1',
    'w2',
    'w3',
    'w4',
    'new',
  ]
  const testHost = await registry.publish(
    echo('1.0.0', { ...scripts, dependencies: { 'crab-dep': '1.0.0' } }),
    echo('1.1.0'),
    { manifest: { name: 'crab-dep', version: '1.0.0' } },
    named('crab-bare', { bin: undefined }),
    named('crab-many', several),
    named('crab-word', { crabtalk: { component: 'doctor' } }),
    named('@other/echo'),
    named('crab-gone', { bin: 'nothing.mjs' }),
    named('crab-cut'),
    ...['1.9.0', '1.10.0', '1.2.0', '2.0.0'].map((version) => longPackage(version)),
    named('crab-new', { engines: { node: '>=22 <22 || >=24' } }),
    {
      ...named('crab-large'),
      files: { ...componentFiles('large'), large: randomBytes(150_000).toString('hex') },
    },
  )
  published = Object.fromEntries(testHost.map((one, i) => [names[i]!, one]))
})
after(() => registry[Symbol.asyncDispose]())

/** Selects `isRealNpm` in one test of each kind, because each call takes a second. */
async function open(isRealNpm = false): Promise<TestPorts & AsyncDisposable & { home: TemporaryHome }> {
  const home = await temporaryHome()
  await mkdir(home.paths.home, { recursive: true })
  const testHost = testPorts({ paths: home.paths, registry, home: home.paths.home, isRealNpm })
  return { ...testHost, home, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() }
}

function packageSpec(version?: string, name = 'crabtalk-echo') {
  return { kind: 'registry', package: name, version } as const
}

function listFolders({ home }: { home: TemporaryHome }, name = 'echo'): string[] {
  return readdirSync(join(home.paths.packages, name)).toSorted()
}

test('pull() installs a version with its dependencies, and runs none of its scripts', async () => {
  await using at = await open(true)
  const pulled = await pullComponent(packageSpec('1.0.0'), at.ports, signal)
  assert.equal(pulled.version, '1.0.0')
  const [offer] = at.offers
  assert.equal(offer?.facts.publisher, 'ada <ada@example.com>')
  assert.deepEqual(offer?.facts.maintainers, ['ada <ada@example.com>'])
  assert.equal(offer?.facts.publishedAt, '2026-03-01T09:00:00.000Z')
  assert.deepEqual(offer?.facts.scripts, ['postinstall'])
  assert.deepEqual(offer?.facts.dependencies, ['crab-dep'])
  assert.equal(offer?.isTrusted, false)
  const echo = installedService(at.home.paths, 'echo')
  assert.equal(
    echo?.script,
    join(at.home.paths.packages, 'echo/current/lib/node_modules/crabtalk-echo/main.mjs'),
  )
  assert.equal(echo?.runsOnNode, true)
  assert.ok(existsSync(join(echo.script, '../node_modules/crab-dep/package.json')))
  assert.ok(!existsSync(join(at.home.paths.home, 'ran')))
  assert.deepEqual(listFolders(at), ['1.0.0', 'current'])
  assert.deepEqual(readdirSync(join(at.home.paths.packages, '.staging')), [])
  assert.equal((await pullComponent(packageSpec('1.0.0'), at.ports, signal)).isSame, true)
})

test('pull() refuses what does not run on the Node of services, before it is fetched', async () => {
  await using home = await temporaryHome()
  const at = testPorts({ paths: home.paths, registry, home: home.paths.home, node: 'v20.20.2' })
  const message =
    'Cannot use crab-new 1.0.0: it needs Node >=22 <22 || >=24, and services run on v20.20.2 (/usr/bin/node)'
  const npm = async () => ({ ...(await at.ports.npm()), pack: () => assert.fail('it is fetched') })
  const ports = { ...at.ports, npm }
  await assert.rejects(pullComponent(packageSpec(undefined, 'crab-new'), ports, signal), {
    kind: 'invalid',
    message,
  })
  const { tarball } = published['new']!
  await assert.rejects(pullComponent({ kind: 'tarball', path: tarball }, at.ports, signal), {
    kind: 'invalid',
    message,
  })
  const none = { ...at.ports, node: async () => undefined }
  assert.equal((await pullComponent({ kind: 'tarball', path: tarball }, none, signal)).version, '1.0.0')
})

test('pull() accepts tarballs and folders, also again with the same version', async () => {
  await using at = await open()
  const { folder, tarball } = published['two']!
  await pullComponent({ kind: 'folder', path: folder }, at.ports, signal)
  assert.equal(installedService(at.home.paths, 'echo')?.origin, 'folder')
  const again = await pullComponent({ kind: 'tarball', path: tarball }, at.ports, signal)
  assert.equal(again.isSame, false)
  assert.equal(installedService(at.home.paths, 'echo')?.source, tarball)
  assert.deepEqual(listFolders(at), ['1.1.0_2', 'current'])
  assert.deepEqual(
    at.offers.map(({ facts }) => facts.publisher),
    [undefined, undefined],
  )
  const [update] = await findUpdates(at.ports, signal)
  assert.match(update?.problem?.message ?? '', /^it was installed from .*\.tgz; pull it again to update it$/)
})

test('pull() removes what it cannot use, and says why', async () => {
  await using at = await open()
  const reasons: [string, string, RegExp][] = [
    ['crab-bare', 'invalid', /it has no program to run/],
    ['crab-many', 'invalid', /it has several programs, and none is called crab-many$/],
    ['crab-word', 'conflict', /its name "doctor" is reserved for crabup/],
    ['crab-gone', 'invalid', /its program nothing.mjs is missing/],
  ]
  for (const [name, kind, message] of reasons) {
    await assert.rejects(pullComponent(packageSpec(undefined, name), at.ports, signal), { kind, message })
  }
  const declining = { ...at.ports, consent: async () => Promise.reject(new CrabError('denied', 'no')) }
  await assert.rejects(pullComponent(packageSpec('1.1.0'), declining, signal), { kind: 'denied' })
  assert.deepEqual(installedServices(at.home.paths), [])
  assert.deepEqual(readdirSync(at.home.paths.packages), ['.staging'])
  assert.deepEqual(readdirSync(join(at.home.paths.packages, '.staging')), [])
})

test('npm errors are reported with their cause', async () => {
  await using at = await open(true)
  registry.replace('crab-cut', '1.0.0', readFileSync(published['cut']!.tarball).subarray(0, 200))
  await Promise.all([
    assert.rejects(pullComponent(packageSpec('9.9.9'), at.ports, signal), {
      kind: 'missing',
      message: /does not have that package or version/,
    }),
    assert.rejects(pullComponent(packageSpec('1.0.0', 'crab-cut'), at.ports, signal), {
      kind: 'invalid',
      message: /the download is damaged/,
    }),
  ])
  registry.fail(503)
  await assert.rejects(pullComponent(packageSpec(), at.ports, signal), { kind: 'unavailable' })
  registry.fail(undefined)
})

test('npm is asked for the latest version that matches a range, whose list may have megabytes', async () => {
  await using at = await open(true)
  const npm = await at.ports.npm()
  const found = await npm.view('crab-wordy@1', signal)
  assert.equal(found['version'], '1.10.0')
})

test('pull() keeps a service name with the package that has it', async () => {
  await using at = await open()
  await pullComponent(packageSpec('1.1.0'), at.ports, signal)
  await assert.rejects(pullComponent(packageSpec(undefined, '@other/echo'), at.ports, signal), {
    kind: 'conflict',
    message: 'Cannot pull @other/echo: the name echo belongs to crabtalk-echo',
    hint: 'remove that one first: crabup rm echo',
  })
})

test('two concurrent pulls of one name run one after the other', async () => {
  await using at = await open()
  await pullComponent(packageSpec('1.0.0'), at.ports, signal)
  at.running.add('echo')
  const gate = Promise.withResolvers<void>()
  at.onRestart.now = () => gate.promise
  const first = pullComponent(packageSpec('1.1.0'), at.ports, signal)
  await until('the first restarts it', () => at.serviceRequests.length > 0)
  let isWaiting = false
  const lock: typeof at.ports.lock = (resource, given) => {
    isWaiting = true
    return at.ports.lock(resource, given)
  }
  const second = pullComponent(
    { kind: 'tarball', path: published['two']!.tarball },
    { ...at.ports, lock },
    signal,
  )
  await until('the second waits', () => isWaiting || at.serviceRequests.length > 1)
  assert.deepEqual(at.serviceRequests, ['restart echo'])
  gate.resolve()
  assert.deepEqual([(await first).before, (await second).before], ['1.0.0', '1.1.0'])
  assert.deepEqual(listFolders(at), ['1.1.0_2', 'current'])
})

test('findUpdates() finds newer versions, and names packages it cannot check', async () => {
  await using at = await open()
  await pullComponent(packageSpec('1.0.0'), at.ports, signal)
  const [update] = await findUpdates(at.ports, signal)
  assert.equal(update?.version, '1.1.0')
  const npm = async () => ({
    ...(await at.ports.npm()),
    view: () => Promise.reject(new CrabError('unavailable', 'no')),
  })
  const [unknown] = await findUpdates({ ...at.ports, npm }, signal)
  assert.equal(unknown?.problem?.kind, 'unavailable')
})

test('removePackage() stops the service and removes the package, by either name', async () => {
  await using at = await open()
  await pullComponent(packageSpec('1.1.0'), at.ports, signal)
  assert.equal(await removePackage('crabtalk-echo', at.ports, signal), 'echo')
  assert.deepEqual(at.serviceRequests, ['remove echo'])
  assert.deepEqual(readdirSync(at.home.paths.packages), ['.staging'])
  await assert.rejects(removePackage('echo', at.ports, signal), { kind: 'missing' })
  await assert.rejects(removePackage('cron', at.ports, signal), {
    message: 'Cannot remove cron: it is built in',
  })
})

test('pull() onto a full disk says so, keeps the old version and nothing of the new one', async (t) => {
  using disk = mountSmallDisk(400)
  if (!disk) return t.diagnostic('this user may not mount a disk')
  const paths = homePaths({ CRABTALK_HOME: disk.path }, { cwd: '/', homeDir: '' })
  const at = testPorts({ paths, registry, home: disk.path })
  await pullComponent(packageSpec('1.0.0'), at.ports, signal)
  const real = testPorts({ paths, registry, home: disk.path, isRealNpm: true })
  await assert.rejects(pullComponent(packageSpec('1.0.0', 'crab-large'), real.ports, signal), {
    kind: 'storage',
    message: /the disk is full/,
  })
  assert.deepEqual(readdirSync(paths.packages).toSorted(), ['.staging', 'echo'])
  assert.deepEqual(readdirSync(join(paths.packages, '.staging')), [])
  assert.equal(installedService(paths, 'echo')?.version, '1.0.0')
})

test('pull() says in one line that npm is missing', async () => {
  await using at = await open()
  const nowhere = { path: '/nowhere', isRealNpm: true }
  const { ports } = testPorts({ paths: at.home.paths, registry, home: at.home.paths.home, ...nowhere })
  await assert.rejects(pullComponent(packageSpec(), ports, signal), {
    kind: 'missing',
    message: /no npm is on the PATH/,
  })
})
