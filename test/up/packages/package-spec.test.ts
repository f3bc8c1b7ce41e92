import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { isServiceName } from '../../../src/up/packages/installed.ts'
import { parsePackageSpec, toServiceName } from '../../../src/up/packages/package-spec.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const EMPTY_FOLDER = { cwd: '/nowhere', homeDir: '/home/ada' }

test('parsePackageSpec() accepts names of the table, packages with and without a version, and scopes', async () => {
  const registry = (name: string, version?: string) => ({ kind: 'registry', package: name, version })
  assert.deepEqual(await parsePackageSpec('clock', undefined, EMPTY_FOLDER), registry('crabtalk-clock'))
  assert.deepEqual(
    await parsePackageSpec('clock@0.2.0', undefined, EMPTY_FOLDER),
    registry('crabtalk-clock', '0.2.0'),
  )
  assert.deepEqual(
    await parsePackageSpec('@acme/thing@next', undefined, EMPTY_FOLDER),
    registry('@acme/thing', 'next'),
  )
  assert.deepEqual(
    await parsePackageSpec('some-thing', '1.0.0', EMPTY_FOLDER),
    registry('some-thing', '1.0.0'),
  )
})

test('parsePackageSpec() rejects what is neither a name nor a path', async () => {
  const refused: [string, string | undefined, RegExp][] = [
    ['daemon', undefined, /it is built in/],
    ['clok', '1.0.0 || 2', /"1\.0\.0 \|\| 2" is not a version/],
    ['clock@1', '2', /its version is given twice/],
    ['https://example.com/x.git', undefined, /it is neither the name of an npm package nor a path/],
    ['https://example.com/x-1.0.0.tgz', undefined, /a tarball must be a local file/],
    ['--registry=http://evil', undefined, /it is neither/],
    ['thing@--flag', undefined, /"--flag" is not a version/],
    ['Thing', undefined, /it is neither/],
    ['../evil/..%2f', undefined, /it does not exist/],
    ['./x.tgz', '1.0.0', /a file has only one version/],
  ]
  for (const [word, version, message] of refused) {
    await assert.rejects(parsePackageSpec(word, version, EMPTY_FOLDER), { message }, word)
  }
})

test('parsePackageSpec() recognizes tarballs and folders by paths', async () => {
  await using home = await temporaryHome()
  await home.write('thing/package.json', '{}')
  await home.write('thing-1.0.0.tgz', '')
  await mkdir(join(home.paths.home, 'empty'))
  const at = { cwd: home.paths.home, homeDir: home.paths.home }
  assert.deepEqual(await parsePackageSpec('./thing', undefined, at), {
    kind: 'folder',
    path: join(home.paths.home, 'thing'),
  })
  assert.deepEqual(await parsePackageSpec('~/thing', undefined, at), {
    kind: 'folder',
    path: join(home.paths.home, 'thing'),
  })
  assert.deepEqual(await parsePackageSpec('thing-1.0.0.tgz', undefined, at), {
    kind: 'tarball',
    path: join(home.paths.home, 'thing-1.0.0.tgz'),
  })
  await assert.rejects(parsePackageSpec('./empty', undefined, at), {
    kind: 'no-input',
    message: 'Cannot pull ./empty: that folder has no package.json',
  })
})

test('parsePackageSpec() asks which is meant when a folder has the name of a package', async () => {
  await using home = await temporaryHome()
  await home.write('thing/package.json', '{}')
  await home.write('kit/crabtalk.toml', '')
  await home.write('clock/package.json', '{}')
  const at = { cwd: home.paths.home, homeDir: home.paths.home }
  await assert.rejects(parsePackageSpec('thing', undefined, at), {
    kind: 'usage',
    message: 'Cannot pull thing: it could be the folder here or an npm package',
    hint: './thing is the folder, thing@latest the package',
  })
  await assert.rejects(parsePackageSpec('kit', undefined, { ...at, verb: 'add' }), { kind: 'usage' })
  assert.equal((await parsePackageSpec('kit', undefined, at)).kind, 'registry')
  assert.equal((await parsePackageSpec('thing@latest', undefined, at)).kind, 'registry')
  assert.equal((await parsePackageSpec('clock', undefined, at)).kind, 'registry')
})

test('toServiceName() uses the name in the package, then the table, then the rest of the package name', () => {
  const serviceName = (name: string, crabtalk?: unknown) =>
    toServiceName({ name, ...(crabtalk !== undefined && { crabtalk }) } as never, new Set(['ps']))
  assert.equal(serviceName('crabtalk-clock'), 'clock')
  assert.equal(serviceName('crabtalk-echo'), 'echo')
  assert.equal(serviceName('@acme/crabtalk-echo'), 'echo')
  assert.equal(serviceName('@acme/My_Thing.js'), 'my-thing-js')
  assert.equal(serviceName('whatever', { component: 'thing' }), 'thing')
  for (const name of ['ps', 'start', 'crabtalk-logs', 'con', 'pkg']) {
    assert.throws(() => serviceName(name), { kind: 'conflict', message: /is reserved for crabup/ }, name)
  }
  assert.throws(() => serviceName('crabtalk-daemon'), {
    kind: 'conflict',
    message: /belongs to a built-in service/,
  })
  assert.throws(() => serviceName('@evil/clock'), { kind: 'conflict', message: /belongs to crabtalk-clock/ })
  assert.throws(() => serviceName('x', { component: '../run' }), { kind: 'invalid' })
  assert.throws(() => serviceName('x'.repeat(40)), { kind: 'invalid' })
})

test('isServiceName() accepts what can be a folder, a part of a unit and a server of an agent', () => {
  for (const name of ['a', 'a-b', '7', 'a'.repeat(32)]) assert.ok(isServiceName(name), name)
  for (const name of ['', '-a', 'a-', 'a--b', 'a.b', 'A', 'a/b', '..', 'a'.repeat(33)]) {
    assert.ok(!isServiceName(name), name)
  }
})
