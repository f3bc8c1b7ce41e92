import assert from 'node:assert/strict'
import { chmod, lstat, mkdir, readdir, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { REDACTED } from '../../../src/core/base/secrets/redact.ts'
import { isAgentId } from '../../../src/core/config/agent-id.ts'
import { AgentStore } from '../../../src/core/config/agents.ts'
import { DEFAULT_PROMPT } from '../../../src/core/config/default-agent.ts'
import { agentStore } from '../../support/agent-store.ts'
import { mountReadOnly } from '../../support/small-disk.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const ID = '01JZZZZZZZZZZZZZZZZZZZZZZZ'
const DEFAULTS = { description: '', max_iterations: 100, thinking: false, skills: [], tools: [], mcps: [] }

test('get() creates the default agent on first use, and finds it afterwards', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const crab = await store.get('crab')
  assert.ok(isAgentId(crab.id))
  assert.deepEqual(crab, {
    ...DEFAULTS,
    id: crab.id,
    name: 'crab',
    prompt: DEFAULT_PROMPT,
    description: 'A capable local assistant',
  })
  assert.equal(
    await home.read('agents/crab.toml'),
    `id = "${crab.id}"\ndescription = "A capable local assistant"\n`,
  )
  assert.equal(await home.read('agents/crab.md'), `${DEFAULT_PROMPT}\n`)
  assert.deepEqual(await store.get('crab'), crab)
  assert.ok(Buffer.byteLength(DEFAULT_PROMPT) <= 400)
})

test('get() with create: false writes nothing, and returns the same default agent each time', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const crab = await store.get('crab', { create: false })
  assert.deepEqual(await store.get('crab', { create: false }), crab)
  assert.ok(isAgentId(crab.id))
  await assert.rejects(stat(home.paths.home), { code: 'ENOENT' })
})

test('get() keeps an existing prompt when it creates the default agent', async () => {
  await using home = await temporaryHome()
  await home.write('agents/crab.md', 'Mine.\n')
  assert.equal((await agentStore(home.paths).get('crab')).prompt, 'Mine.')
})

test('the files and folders of the store are private', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('helper', {}, 'Help.')
  await chmod(join(home.paths.agents, 'helper.toml'), 0o644)
  await store.update('helper', { model: 'm' })
  const modes = ['', 'agents', 'agents/helper.toml', 'agents/helper.md'].map(async (path) => {
    return (await stat(join(home.paths.home, path))).mode & 0o777
  })
  assert.deepEqual(await Promise.all(modes), [0o700, 0o700, 0o600, 0o600])
})

test('get() suggests the nearest name for an unknown agent', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('reviewer', {}, '')
  await assert.rejects(store.get('reviwer'), {
    kind: 'missing',
    message: 'Cannot find the agent "reviwer"',
    hint: 'did you mean "reviewer"?',
  })
  await assert.rejects(store.get('x'), { hint: 'crabtalk agent list shows all agents' })
  await assert.rejects(store.get('../reviewer'), { kind: 'missing' })
})

test('get() reports every problem of the file', async () => {
  await using home = await temporaryHome()
  await home.write('agents/crab.toml', '\n\nmodle = "x"\nmax_iterations = "many"\n')
  await assert.rejects(agentStore(home.paths).get('crab'), {
    kind: 'config',
    message:
      'agents/crab.toml:3: unknown key "modle" (did you mean "model"?)\n' +
      'agents/crab.toml:4: "max_iterations" must be a number, not a string',
  })
})

test('list() returns the valid agents in order, and the problems of the others', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  for (const name of ['zed', 'Äpfel', 'beta']) await store.create(name, {}, '')
  await home.write('agents/bad.toml', 'x = \n')
  await home.write('agents/not a name.toml', '')
  await home.write('agents/note.md', 'no agent')
  await home.write('agents/.hidden.toml', 'x')
  await home.write('agents/beta.toml.abc.tmp', 'x')
  await mkdir(join(home.paths.agents, 'folder.toml'))
  await symlink('nowhere', join(home.paths.agents, 'lost.toml'))
  const { agents, problems } = await store.list()
  assert.deepEqual(
    agents.map(({ name }) => name),
    ['beta', 'zed', 'Äpfel'],
  )
  assert.deepEqual(
    problems.map(({ file, message }) => [file, message.replace(/:.*/, '')]),
    [
      ['agents/bad.toml', 'not valid TOML'],
      ['agents/folder.toml', 'cannot be read'],
      ['agents/lost.toml', 'cannot be read'],
      [
        'agents/not a name.toml',
        'a name is 1 to 64 letters, digits, _ or -, and starts with a letter or digit',
      ],
    ],
  )
})

test('list() of a missing home is empty', async () => {
  await using home = await temporaryHome()
  assert.deepEqual(await agentStore(home.paths).list(), { agents: [], problems: [] })
})

test('create() writes the given keys after a new id, and the prompt unchanged', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const config = {
    id: ID,
    model: 'm',
    thinking: null,
    mcps: [{ name: 'fs', command: 'x', env: { A: '1' }, url: null, auto_restart: true }],
  }
  const agent = await store.create('helper', config, 'Two\nlines\n')
  assert.notEqual(agent.id, ID)
  assert.deepEqual(agent, {
    ...DEFAULTS,
    id: agent.id,
    name: 'helper',
    prompt: 'Two\nlines\n',
    model: 'm',
    mcps: [{ name: 'fs', command: 'x', env: { A: '1' } }],
  })
  assert.equal(
    await home.read('agents/helper.toml'),
    `id = "${agent.id}"\nmodel = "m"\n\n[[mcps]]\nname = "fs"\ncommand = "x"\nenv = { A = "1" }\n`,
  )
})

test('create() keeps an existing prompt unless it gets one', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await home.write('agents/mine.md', 'Mine.\n')
  await home.write('agents/yours.md', 'Mine.\n')
  assert.equal((await store.create('mine', {}, '')).prompt, 'Mine.')
  assert.equal((await store.create('yours', {}, 'Yours.')).prompt, 'Yours.')
})

for (const taken of ['helper', 'Helper', 'HELPER']) {
  test(`create() rejects ${taken} when there is helper`, async () => {
    await using home = await temporaryHome()
    const store = agentStore(home.paths)
    await store.create('helper', {}, 'first')
    await assert.rejects(store.create(taken, {}, 'second'), {
      kind: 'conflict',
      message: `Cannot create the agent "${taken}": an agent of that name exists`,
    })
    assert.equal((await store.get('helper')).prompt, 'first')
  })
}

test('create() rejects a second spelling of a name, and invalid names', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('\u00e9tude', {}, '')
  await assert.rejects(store.create('E\u0301tude', {}, ''), { kind: 'conflict' })
  assert.equal((await store.get('e\u0301tude')).name, '\u00e9tude')
  await assert.rejects(store.create('../x', {}, ''), {
    kind: 'invalid',
    message:
      'Cannot create the agent "../x": a name is 1 to 64 letters, digits, _ or -, and starts with a letter or digit',
  })
})

test('create() rejects an invalid configuration and writes nothing', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await assert.rejects(store.create('a', { modle: 'm' }, ''), {
    kind: 'invalid',
    message: 'Cannot create the agent "a": unknown key "modle"',
    hint: 'did you mean "model"?',
  })
  await assert.rejects(store.create('a', { zzz: 1 }, ''), {
    kind: 'invalid',
    message: 'Cannot create the agent "a": unknown key "zzz"',
    hint: 'the keys are components, description, effort, id, max_iterations, mcps, mode, model, permissions, skills, thinking, tool_choice, tools',
  })
  await assert.rejects(
    store.create('a', { mcps: [{ name: 'x', url: 'http://h', auth: REDACTED }], model: 1 }, ''),
    {
      kind: 'invalid',
      message:
        'Cannot create the agent "a":\n"model" must be a string, not a number\n' +
        '"mcps[0].auth" is [secret], and there is no stored value to keep (give the value itself)',
    },
  )
  await assert.rejects(stat(home.paths.home), { code: 'ENOENT' })
})

test('update() applies a merge patch to the file, and keeps its comments', async () => {
  await using home = await temporaryHome()
  const text = `# Mine.\nid = "${ID}"\nmodel = "m" # good\nthinking = true\n`
  await home.write('agents/a.toml', text)
  const agent = await agentStore(home.paths).update('a', { model: 'n', thinking: null })
  assert.deepEqual(agent, { ...DEFAULTS, id: ID, name: 'a', prompt: '', model: 'n' })
  assert.equal(await home.read('agents/a.toml'), `# Mine.\nid = "${ID}"\nmodel = "n" # good\n`)
})

test('update() replaces the prompt, and does not write an unchanged file', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const { id } = await store.create('a', { model: 'm' }, 'old')
  const before = await stat(join(home.paths.agents, 'a.toml'))
  assert.equal((await store.update('a', { model: 'm', id }, 'new')).prompt, 'new')
  assert.equal((await stat(join(home.paths.agents, 'a.toml'))).ino, before.ino)
})

test('update() keeps the stored secret for a placeholder', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const mcps = [{ name: 'fs', command: 'x', env: { TOKEN: 'hush' } }]
  await store.create('a', { mcps }, '')
  const changed = [{ name: 'fs', command: 'x', args: ['y'], env: { TOKEN: REDACTED, LOG: '1' } }]
  const agent = await store.update('a', { mcps: changed })
  assert.deepEqual(agent.mcps, [{ name: 'fs', command: 'x', args: ['y'], env: { TOKEN: 'hush', LOG: '1' } }])
  await assert.rejects(store.update('a', { mcps: [{ ...changed[0], command: 'evil' }] }), {
    kind: 'invalid',
    message:
      /"mcps\[0\]\.env\.TOKEN" is \[secret\], and stored secrets are kept only for the same "command"$/,
  })
  await assert.rejects(store.update('a', { mcps: [{ ...changed[0], name: 'other' }] }), {
    kind: 'invalid',
    message:
      'Cannot change the agent "a": "mcps[0].env.TOKEN" is [secret], and there is no stored value to keep',
    hint: 'give the value itself',
  })
  assert.deepEqual((await store.update('a', { mcps: [] })).mcps, [])
})

test('update() rejects another id and unknown keys, and keeps the file unchanged', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('a', {}, 'p')
  const text = await home.read('agents/a.toml')
  await assert.rejects(store.update('a', { id: ID }), { kind: 'invalid', message: /"id" never changes$/ })
  await assert.rejects(store.update('a', { x: 1 }, 'new'), { kind: 'invalid', message: /unknown key "x"$/ })
  assert.equal(await home.read('agents/a.toml'), text)
  assert.equal(await home.read('agents/a.md'), 'p\n')
})

test('update() creates the default agent first, and rejects a missing agent', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  assert.equal((await store.update('crab', { model: 'm' })).model, 'm')
  await assert.rejects(store.update('other', {}), { kind: 'missing' })
})

test('update() of a link changes its target file', async () => {
  await using home = await temporaryHome()
  await home.write('dotfiles/a.toml', 'model = "m"\n')
  await mkdir(home.paths.agents)
  const link = join(home.paths.agents, 'a.toml')
  await symlink('../dotfiles/a.toml', link)
  const { id } = await agentStore(home.paths).update('a', { model: 'n' })
  assert.ok((await lstat(link)).isSymbolicLink())
  assert.equal(await home.read('dotfiles/a.toml'), `model = "n"\nid = "${id}"\n`)
})

test('rename() moves both files and keeps id and contents', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const old = await store.create('old', { model: 'm' }, 'p')
  assert.deepEqual(await store.rename('old', 'new'), { ...old, name: 'new' })
  assert.deepEqual((await readdir(home.paths.agents)).sort(), ['new.md', 'new.toml'])
})

test('rename() can change the case of a name, and does nothing for the same name', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const old = await store.create('old', {}, 'p')
  assert.deepEqual(await store.rename('old', 'old'), old)
  assert.deepEqual(await store.rename('old', 'Old'), { ...old, name: 'Old' })
  assert.deepEqual((await readdir(home.paths.agents)).sort(), ['Old.md', 'Old.toml'])
})

test('rename() rejects a taken name, an invalid name and a missing agent', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('a', {}, '')
  await store.create('b', {}, 'kept')
  await assert.rejects(store.rename('a', 'B'), {
    kind: 'conflict',
    message: /^Cannot rename the agent "a": /,
  })
  await assert.rejects(store.rename('a', 'x y'), { kind: 'invalid' })
  await assert.rejects(store.rename('c', 'd'), { kind: 'missing' })
  assert.equal((await store.get('b')).prompt, 'kept')
})

test('rename() keeps an existing prompt under the new name', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const old = await store.create('old', {}, 'p')
  await home.write('agents/new.md', 'by hand\n')
  await assert.rejects(store.rename('old', 'new'), {
    kind: 'conflict',
    message: /^Cannot rename the agent "old": another agent's prompt is at .*new\.md$/,
    hint: 'move that file away',
  })
  assert.equal(await home.read('agents/new.md'), 'by hand\n')
  assert.deepEqual(await store.get('old'), old)
})

test('rename() completes an interrupted one', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const old = await store.create('old', {}, 'p')
  await home.write('agents/new.md', 'p\n')
  assert.deepEqual(await store.rename('old', 'new'), { ...old, name: 'new' })
  await home.write('agents/empty.md', '')
  assert.deepEqual(await store.rename('new', 'empty'), { ...old, name: 'empty' })
  assert.deepEqual((await readdir(home.paths.agents)).sort(), ['empty.md', 'empty.toml'])
})

test('delete() removes both files, also of an invalid agent', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('a', {}, 'p')
  await home.write('agents/bad.toml', 'x = \n')
  await store.delete('a')
  await store.delete('bad')
  assert.deepEqual(await readdir(home.paths.agents), [])
  await assert.rejects(store.delete('a'), { kind: 'missing' })
})

test('reading works while the lock cannot be acquired', async () => {
  await using home = await temporaryHome()
  await home.write('agents/a.toml', '')
  const refuse = (kind: 'storage' | 'internal') => async () => {
    throw new CrabError(kind, 'no lock')
  }
  const store = new AgentStore({ paths: home.paths, lock: refuse('storage') })
  const { id } = await store.get('a')
  assert.equal((await store.get('a')).id, id)
  await assert.rejects(store.update('a', {}), { kind: 'storage' })
  await assert.rejects(new AgentStore({ paths: home.paths, lock: refuse('internal') }).get('a'), {
    kind: 'internal',
  })
})

test('an unreadable prompt is reported as a problem of its agent', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('a', {}, '')
  await rm(join(home.paths.agents, 'a.md'))
  await mkdir(join(home.paths.agents, 'a.md'))
  const { problems } = await store.list()
  assert.deepEqual(
    problems.map(({ file }) => file),
    ['agents/a.md'],
  )
})

test('a read-only home can be read, and is reported when something must be written', async () => {
  await using home = await temporaryHome()
  await home.write('agents/a.toml', 'model = "m"\n')
  using mount = mountReadOnly(home.paths.home)
  if (mount === undefined) await chmod(home.paths.agents, 0o500) // a user who may not mount is not root, and is kept out this way
  const store = agentStore({ ...home.paths, agents: join(mount?.path ?? home.paths.home, 'agents') })
  const { id } = await store.get('a')
  assert.equal((await store.get('a')).id, id)
  assert.equal((await store.list()).agents.length, 1)
  assert.equal((await store.get('crab', { create: false })).prompt, DEFAULT_PROMPT)
  for (const change of [
    () => store.get('crab'),
    () => store.update('a', { model: 'n' }),
    () => store.delete('a'),
  ]) {
    await assert.rejects(change, {
      kind: 'storage',
      message: /: (the file system is read-only|permission denied)$/,
    })
  }
  await chmod(home.paths.agents, 0o700).catch(() => undefined) // so that it can be removed
})
