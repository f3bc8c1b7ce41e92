import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../src/core/protocol/dispatch.ts'
import { startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const MODELS = ['scripted', 'big', 'gpt-5.1']

/** Starts a home whose server has these models, the first of which is the default. */
async function start(): Promise<TestDispatch> {
  const node = await startTestDispatch(() => ({ parts: ['Hi.'] }))
  await writeModels(node, MODELS)
  return node
}

async function writeModels({ home, server }: TestDispatch, names: readonly string[]): Promise<void> {
  const models = `models = ${JSON.stringify(names)}`
  const provider = `[[providers]]\nname = "home"\nkind = "openai-compatible"\nbase_url = "${server.url}"\n${models}\n`
  await home.write('config.toml', `[llm]\nmodel = "scripted"\n\n${provider}`)
}

function lastRequest({ server }: TestDispatch): { model: unknown; effort: unknown } {
  const { model, reasoning_effort: effort } = server.requests.at(-1)!.json
  return { model, effort }
}

async function findSession({ dispatch }: TestDispatch, sender: string) {
  return await request(dispatch, 'getSession', { agent: 'crab', sender }, NEVER)
}

test('set_session_model holds for every later message that names no model, in this process and the next', async () => {
  await using node = await start()
  await node.ask('hello')
  assert.deepEqual(lastRequest(node), { model: 'scripted', effort: undefined })
  const { id: session } = await findSession(node, 'ann')
  const chosen = { session, model: 'gpt-5.1', effort: 'high' }
  const info = await request(node.dispatch, 'setSessionModel', chosen, NEVER)
  assert.deepEqual([info.model, info.effort], ['gpt-5.1', 'high'])
  await node.ask('again')
  assert.deepEqual(lastRequest(node), { model: 'gpt-5.1', effort: 'high' })
  await node.ask('with less', { options: { effort: 'low' } })
  assert.deepEqual(lastRequest(node), { model: 'gpt-5.1', effort: 'low' })
  await node.ask('with another', { options: { model: 'big' } })
  assert.deepEqual(lastRequest(node), { model: 'big', effort: undefined })
  node.services.stores.cache.clear() // as in a process that reads the file for the first time
  await node.ask('again')
  assert.deepEqual(lastRequest(node), { model: 'gpt-5.1', effort: 'high' })
  await request(node.dispatch, 'setSessionModel', { session }, NEVER)
  await node.ask('as ever')
  assert.deepEqual(lastRequest(node), { model: 'scripted', effort: undefined })
})

test('copies of a conversation have its model, also those of its beginning; a new one does not', async () => {
  await using node = await start()
  await node.ask('one')
  await node.ask('two')
  const { id: session } = await findSession(node, 'ann')
  await request(node.dispatch, 'setSessionModel', { session, model: 'big' }, NEVER)
  for (const [sender, upto] of [
    ['all', 0],
    ['beginning', 2],
  ] as const) {
    await request(node.dispatch, 'forkSession', { session, sender, upto }, NEVER)
    await node.ask('there', { sender })
    assert.equal(lastRequest(node).model, 'big')
  }
  const fresh = await request(node.dispatch, 'newSession', { agent: 'crab', sender: 'ann' }, NEVER)
  await request(node.dispatch, 'setSessionModel', { session: fresh.id, model: 'big' }, NEVER)
  const other = await request(node.dispatch, 'newSession', { agent: 'crab', sender: 'ann' }, NEVER)
  assert.equal(other.model, '')
  await node.ask('new')
  assert.equal(lastRequest(node).model, 'scripted')
})

test('a message can store its model with the conversation; a guest and a side question do not change it', async () => {
  await using node = await start()
  await node.ask('hello', { options: { model: 'gpt-5.1', effort: 'low', keepModel: true } })
  const { model, effort, messageCount } = await findSession(node, 'ann')
  assert.deepEqual([model, effort, messageCount], ['gpt-5.1', 'low', 2])
  await node.ask('hello', { options: { side: true } })
  assert.deepEqual(lastRequest(node), { model: 'gpt-5.1', effort: 'low' })
  await request(node.dispatch, 'createAgent', { name: 'other', config: '{"model":"big"}' }, NEVER)
  await node.ask('hello', { guest: 'other' })
  assert.equal(lastRequest(node).model, 'big')
  await node.ask('hello', { options: { model: 'big', keepModel: true } })
  await node.ask('hello')
  assert.deepEqual(lastRequest(node), { model: 'big', effort: undefined })
})

test('an unknown model or effort is refused; a chosen model that is gone fails the turn before anything is stored', async () => {
  await using node = await start()
  await node.ask('hello')
  const { id: session } = await findSession(node, 'ann')
  const set = (model: string, effort = '') =>
    request(node.dispatch, 'setSessionModel', { session, model, effort }, NEVER)
  await assert.rejects(set('none'), { kind: 'config' })
  await assert.rejects(set('big', 'much'), { kind: 'invalid' })
  await set('big')
  await writeModels(node, ['scripted'])
  await request(node.dispatch, 'reload', {}, NEVER)
  await assert.rejects(node.ask('again'), { kind: 'config', message: /^Cannot find model "big"/ })
  assert.equal((await findSession(node, 'ann')).messageCount, 2)
})
