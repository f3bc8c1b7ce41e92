import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  findHomeConflict,
  homeContent,
  listComponentNames,
  removeComponents,
  removeContent,
} from '../../src/up/services/home-content.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { makeTree } from '../support/trees.ts'

test('homeContent() measures our files, and removeContent() leaves all others', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', 'model = "x"\n')
  await home.write('agents/crab.toml', 'description = "x"\n')
  await home.write('sessions/a.jsonl', 'x'.repeat(5000))
  await home.write('events/subscriptions.toml', '')
  await home.write('service.env', "A='b'\n")
  await home.write('history', '{"text":"hello"}\n')
  await home.write('diary.txt', 'mine\n')
  const content = await homeContent(home.paths)
  assert.equal(content[0]?.name, 'sessions')
  assert.ok(content[0]!.bytes >= 5000 && content[0]!.files === 2)
  const names = content.map(({ name }) => name).toSorted()
  assert.deepEqual(names, ['agents', 'config.toml', 'events', 'history', 'service.env', 'sessions'])
  assert.deepEqual(await removeContent(home.paths.home, content), ['diary.txt'])
  assert.deepEqual(await readdir(home.paths.home), ['diary.txt'])
})

test('homeContent() leaves out the files of a home that are elsewhere, such as the keys of its vault', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', '')
  await home.write('../configuration/vault-keys/key', 'x')
  const vaultKeys = join(home.paths.home, '..', 'configuration', 'vault-keys')
  const content = await homeContent({ ...home.paths, vaultKeys })
  assert.deepEqual(content, [{ name: 'config.toml', bytes: 0, files: 1 }])
})

test('removeContent() removes links without following them, and an empty home', async () => {
  await using home = await temporaryHome()
  const elsewhere = join(home.paths.home, '..', 'elsewhere')
  await mkdir(elsewhere, { recursive: true })
  await writeFile(join(elsewhere, 'kept.txt'), 'x')
  await mkdir(home.paths.home, { recursive: true })
  await symlink(elsewhere, home.paths.skills)
  assert.deepEqual(await removeContent(home.paths.home, await homeContent(home.paths)), [])
  assert.equal(await readFile(join(elsewhere, 'kept.txt'), 'utf8'), 'x')
  await assert.rejects(stat(home.paths.home), { code: 'ENOENT' })
})

test('findHomeConflict() rejects a directory that holds more than a home', async () => {
  for (const home of ['/', '/home', '/home/me']) {
    assert.match((await findHomeConflict({ home }, '/home/me')) ?? '', /holds more/, home)
  }
  for (const home of ['/home/me/.crabtalk', '/home/me2', '/srv/crab']) {
    assert.equal(await findHomeConflict({ home }, '/home/me'), undefined, home)
  }
  await using tree = await makeTree({ 'me/.crabtalk/config.toml': '' })
  const [me, link] = [tree.path('me'), tree.path('link')]
  await symlink(me, link)
  assert.match((await findHomeConflict({ home: link }, me)) ?? '', /link holds more/)
  assert.match((await findHomeConflict({ home: me }, link)) ?? '', /me holds more/)
  assert.equal(await findHomeConflict({ home: join(link, '.crabtalk') }, me), undefined)
})

test('removeComponents() keeps the records of skills and agents', async () => {
  await using home = await temporaryHome()
  await home.write('packages/clock/1.0.0/crabup.json', '{}')
  await home.write('packages/pkg/notes.json', '{}')
  await home.write('packages/.staging/1-01/package.tgz', '')
  assert.deepEqual(await listComponentNames(home.paths), ['clock'])
  assert.deepEqual(await removeComponents(home.paths), ['clock'])
  assert.deepEqual(await readdir(home.paths.packages), ['pkg'])
  assert.deepEqual(await listComponentNames(home.paths), [])
  assert.deepEqual(await removeComponents({ packages: '/nowhere' }), [])
})
