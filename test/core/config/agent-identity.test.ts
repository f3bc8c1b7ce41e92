import assert from 'node:assert/strict'
import { mkdir, readdir, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { isAgentId } from '../../../src/core/config/agent-id.ts'
import { agentStore } from '../../support/agent-store.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

/** An id of another program, which matches no name. */
const ID = '01JZZZZZZZZZZZZZZZZZZZZZZZ'

test('a file without an id gets one on first read, which stays', async () => {
  await using home = await temporaryHome()
  await home.write('agents/a.toml', '# note\n\nmodel = "m"\n')
  const store = agentStore(home.paths)
  const { id } = await store.get('a')
  assert.ok(isAgentId(id))
  assert.equal(await home.read('agents/a.toml'), `# note\n\nmodel = "m"\nid = "${id}"\n`)
  assert.equal((await store.get('a')).id, id)
  assert.equal((await store.list()).agents[0]?.id, id)
})

test('a file without an id keeps its derived one while nothing can be written', async () => {
  await using home = await temporaryHome()
  await home.write('agents/a.toml', 'model = "m"\n')
  const store = agentStore(home.paths)
  const { id } = await store.get('a', { create: false })
  assert.equal((await store.get('a', { create: false })).id, id)
  assert.equal(await home.read('agents/a.toml'), 'model = "m"\n')
  assert.equal((await store.get('a')).id, id)
})

test('a byte order mark is ignored, and removed when the file changes', async () => {
  await using home = await temporaryHome()
  await home.write('agents/a.toml', '\uFEFF# note\n\n[[mcps]]\nname = "x"  # spaced\ncommand = "y"\n')
  const { id } = await agentStore(home.paths).get('a')
  assert.equal(
    await home.read('agents/a.toml'),
    `# note\n\nid = "${id}"\n\n[[mcps]]\nname = "x"  # spaced\ncommand = "y"\n`,
  )
})

test('an invalid file is never changed', async () => {
  await using home = await temporaryHome()
  await home.write('agents/a.toml', 'mcps = ["github"]\n')
  await assert.rejects(agentStore(home.paths).get('a'), { kind: 'config' })
  assert.equal(await home.read('agents/a.toml'), 'mcps = ["github"]\n')
})

test('among two files with one id, the one whose name matches keeps it, even if it is newer', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const original = await store.create('original', { model: 'm' }, 'p')
  await home.copy('agents/original.toml', 'agents/copy.toml')
  await home.copy('agents/copy.toml', 'agents/original.toml')
  const copy = await store.get('copy')
  assert.notEqual(copy.id, original.id)
  assert.deepEqual({ ...copy, id: original.id, name: 'original', prompt: 'p' }, original)
  assert.deepEqual(await store.get('copy'), copy)
  assert.deepEqual(await store.get('original'), original)
})

test('among two files with one id of another program, the older keeps it', async () => {
  await using home = await temporaryHome()
  await home.write('agents/zed.toml', `id = "${ID}"\n`)
  await home.copy('agents/zed.toml', 'agents/copy.toml')
  const store = agentStore(home.paths)
  assert.equal((await store.get('zed')).id, ID)
  const { id } = await store.get('copy')
  assert.notEqual(id, ID)
  assert.equal((await store.update('zed', { model: 'm' })).id, ID)
  assert.equal((await store.get('copy')).id, id)
})

test('a renamed agent keeps its id before its copies', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const { id } = await store.create('old', {}, '')
  await store.rename('old', 'new')
  await home.copy('agents/new.toml', 'agents/copy.toml')
  assert.notEqual((await store.get('copy')).id, id)
  assert.equal((await store.get('new')).id, id)
})

test('one of two links to one file becomes its own file', async () => {
  await using home = await temporaryHome()
  await home.write('shared.toml', `id = "${ID}"\n`)
  await mkdir(home.paths.agents)
  for (const name of ['a', 'b']) await symlink('../shared.toml', join(home.paths.agents, `${name}.toml`))
  const store = agentStore(home.paths)
  const ids = (await store.list()).agents.map(({ id }) => id)
  assert.equal(ids[0], ID)
  assert.notEqual(ids[1], ID)
  assert.deepEqual(
    (await store.list()).agents.map(({ id }) => id),
    ids,
  )
})

test('a renamed file keeps its id', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const { id } = await store.create('a', {}, '')
  await rename(join(home.paths.agents, 'a.toml'), join(home.paths.agents, 'b.toml'))
  assert.equal((await store.get('b')).id, id)
})

test('among two files with the same folded name, the older is the agent', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('crab', {}, '')
  await home.copy('agents/crab.toml', 'agents/Crab.toml')
  const { agents, problems } = await store.list()
  assert.deepEqual(
    agents.map(({ name }) => name),
    ['crab'],
  )
  assert.deepEqual(
    problems.map(({ file, message }) => `${file}: ${message}`),
    ['agents/Crab.toml: the name is taken by agents/crab.toml'],
  )
  assert.equal((await store.get('crab')).name, 'crab')
  await assert.rejects(store.get('Crab'), {
    kind: 'config',
    message: 'agents/Crab.toml:1: the name is taken by agents/crab.toml',
  })
})

test('the default agent is not created next to one with the same folded name', async () => {
  await using home = await temporaryHome()
  await home.write('agents/CRAB.toml', '')
  await assert.rejects(agentStore(home.paths).get('crab'), { kind: 'missing', hint: 'did you mean "CRAB"?' })
  assert.deepEqual(await readdir(home.paths.agents), ['CRAB.toml'])
})
