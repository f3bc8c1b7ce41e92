import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../src/core/protocol/dispatch.ts'
import { findEvent, startTestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal

test('get_agent returns the default agent for an empty name', async () => {
  await using node = await startTestDispatch([])
  const { name, prompt, config, model, maxIterations } = await request(node.dispatch, 'getAgent', {}, NEVER)
  assert.deepEqual([name, model, maxIterations], ['crab', '', 100])
  assert.match(prompt, /^You are crab/)
  assert.equal(JSON.parse(config).max_iterations, 100)
})

test('agents are created, merge-patched, renamed and deleted, and keep their id', async () => {
  await using node = await startTestDispatch([])
  const { dispatch } = node
  const config = JSON.stringify({ description: 'reads', model: 'm', tools: ['read'] })
  const created = await request(
    dispatch,
    'createAgent',
    { name: 'critic', config, prompt: 'You judge.' },
    NEVER,
  )
  assert.deepEqual(
    [created.name, created.model, created.description, created.prompt],
    ['critic', 'm', 'reads', 'You judge.'],
  )
  const patch = JSON.stringify({ model: null, max_iterations: 3 })
  const changed = await request(dispatch, 'updateAgent', { name: 'critic', config: patch, prompt: '' }, NEVER)
  assert.deepEqual([changed.model, changed.maxIterations, changed.prompt], ['', 3, 'You judge.'])
  assert.equal(changed.description, 'reads')
  const renamed = await request(dispatch, 'renameAgent', { oldName: 'critic', newName: 'judge' }, NEVER)
  assert.deepEqual([renamed.name, renamed.id], ['judge', created.id])
  const { agents, problems } = await request(dispatch, 'listAgents', {}, NEVER)
  assert.deepEqual([agents.map(({ name }) => name), problems], [['judge'], []])
  assert.deepEqual(await request(dispatch, 'deleteAgent', { name: 'judge' }, NEVER), {})
  await assert.rejects(request(dispatch, 'getAgent', { name: 'judge' }, NEVER), { kind: 'missing' })
})

test('rename_agent reports which name is invalid before it looks at memories', async () => {
  await using node = await startTestDispatch([])
  for (const name of ['one', 'two'])
    await request(node.dispatch, 'createAgent', { name, config: '', prompt: '' }, NEVER)
  await node.services.memory.checkpoint('two', NEVER)
  await node.services.memory.checkpoint('gone', NEVER)
  const rename = (oldName: string, newName: string) =>
    request(node.dispatch, 'renameAgent', { oldName, newName }, NEVER)
  await assert.rejects(rename('nobody', 'gone'), { kind: 'missing', message: /nobody/ })
  await assert.rejects(rename('one', 'two'), { kind: 'conflict', message: /^(?!.*memory)/ })
  await assert.rejects(rename('one', 'gone'), { kind: 'conflict', message: /another memory is at/ })
  assert.equal((await rename('one', 'three')).name, 'three')
})

test('rename_agent moves schedules, and does nothing while their file is broken', async () => {
  await using node = await startTestDispatch([])
  const { dispatch, home } = node
  await request(dispatch, 'createAgent', { name: 'scout', config: '', prompt: '' }, NEVER)
  const entry = '[[cron]]\nid = 1\nschedule = "@daily"\ncontent = "look" # each day\nagent = "scout"\n'
  await home.write('config/crons.toml', `${entry}[[`)
  const rename = () => request(dispatch, 'renameAgent', { oldName: 'scout', newName: 'finder' }, NEVER)
  await assert.rejects(rename(), { kind: 'config', message: /crons\.toml:6/ })
  await request(dispatch, 'getAgent', { name: 'scout' }, NEVER)
  await home.write('config/crons.toml', entry)
  await rename()
  assert.equal(await home.read('config/crons.toml'), entry.replace('"scout"', '"finder"'))
})

test('the tools of an agent cannot open the schedules, which start turns', async () => {
  const call = { call: 'a', name: 'read', args: '{"path":"config/crons.toml"}' }
  await using node = await startTestDispatch([{ parts: [call] }, { parts: ['no'] }])
  await node.home.write('config/crons.toml', '# mine\n')
  const events = await node.ask('read it', { cwd: node.home.paths.home })
  const { isError, output } = findEvent(events, 'toolResult').value
  assert.deepEqual([isError, output.includes('# mine')], [true, false])
})

test('agents never show the secrets of their servers, and keep them through an update', async () => {
  await using node = await startTestDispatch([])
  const { dispatch } = node
  const mcps = [{ name: 'fs', command: 'npx', args: ['-y'], env: { TOKEN: 'hunter2' } }]
  const created = await request(
    dispatch,
    'createAgent',
    { name: 'a', config: JSON.stringify({ mcps }), prompt: '' },
    NEVER,
  )
  assert.deepEqual(created.mcps, ['fs'])
  assert.doesNotMatch(JSON.stringify(created), /hunter2/)
  const shownConfig = JSON.parse(created.config) as { mcps: object[] }
  const config = JSON.stringify({ mcps: shownConfig.mcps, description: 'x' })
  await request(dispatch, 'updateAgent', { name: 'a', config, prompt: '' }, NEVER)
  assert.match(await node.home.read('agents/a.toml'), /hunter2/)
})

test('errors in agents name the sent field or the file that is wrong', async () => {
  await using node = await startTestDispatch([])
  const { dispatch } = node
  const create = (name: string, config: string) =>
    request(dispatch, 'createAgent', { name, config, prompt: '' }, NEVER)
  for (const config of ['{', '[]', 'null', '{"max_iterations":0}', '{"modell":"x"}']) {
    await assert.rejects(create('a', config), { kind: 'invalid' })
  }
  await assert.rejects(create('../a', ''), { kind: 'invalid' })
  await create('a', '')
  await assert.rejects(create('A', ''), { kind: 'conflict' })
  await node.home.write('agents/bad.toml', 'nonsense = 1\n')
  const { agents, problems } = await request(dispatch, 'listAgents', {}, NEVER)
  assert.deepEqual(
    agents.map(({ name }) => name),
    ['a'],
  )
  assert.match(problems.join(), /bad\.toml:1.*nonsense/)
})
