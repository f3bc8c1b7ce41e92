import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../src/core/protocol/dispatch.ts'
import { startModelServer } from '../support/model-server.ts'
import { findEvent, startTestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const MORE = `
[[providers]] # at home
name = "home"
kind = "openai-compatible"
base_url = "http://127.0.0.1:1/v1"
models = ["small", "large"] # two
`

test('set_active_model changes the default in memory and in config.toml, and keeps the rest of the file', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }), { config: MORE })
  const before = await node.home.read('config.toml')
  assert.deepEqual(await request(node.dispatch, 'setActiveModel', { model: 'small' }, NEVER), {})
  assert.equal(await node.home.read('config.toml'), before.replace('"scripted"', '"small"'))
  const { models } = await request(node.dispatch, 'listModels', {}, NEVER)
  assert.deepEqual(
    models.filter(({ active }) => active).map(({ name }) => name),
    ['small'],
  )
  await request(node.dispatch, 'setActiveModel', { model: 'scripted' }, NEVER)
  assert.equal(await node.home.read('config.toml'), before)
  assert.equal(findEvent(await node.ask('hi'), 'end').value.model, 'scripted')
})

test('set_active_model adds the model at the top of a file that does not name one', async () => {
  await using node = await startTestDispatch([])
  await node.home.write('config.toml', `# mine\n${MORE}`)
  await request(node.dispatch, 'setActiveModel', { model: 'home/large' }, NEVER)
  assert.match(await node.home.read('config.toml'), /^# mine\n\s*model = "home\/large"\n[\s\S]*# two\n$/)
})

test('set_active_model suggests the nearest name for an unknown model, and writes nothing', async () => {
  await using node = await startTestDispatch([])
  const before = await node.home.read('config.toml')
  const reject = (model: string) => request(node.dispatch, 'setActiveModel', { model }, NEVER)
  await assert.rejects(reject('scriptet'), { kind: 'missing', hint: 'did you mean "scripted"?' })
  await assert.rejects(reject(''), { kind: 'invalid' })
  assert.equal(await node.home.read('config.toml'), before)
})

test('set_active_model accepts any name when the server cannot list its models', async () => {
  await using node = await startTestDispatch([])
  await node.home.write('config.toml', '[llm]\nbase_url = "http://127.0.0.1:1/v1"\n')
  await request(node.dispatch, 'setActiveModel', { model: 'mine' }, NEVER)
  assert.match(await node.home.read('config.toml'), /^model = "mine"$/m)
})

test('set_active_model accepts any name when the provider has no model list', async () => {
  for (const [kind, model] of [
    ['bedrock', 'eu.anthropic.claude-haiku-4-5-20251001-v1:0'],
    ['azure', 'our-second-deployment'],
  ]) {
    await using node = await startTestDispatch([])
    const own = `[[providers]]\nname = "own"\nkind = "${kind}"\nbase_url = "http://127.0.0.1:1"\napi_key = "k"\n`
    await node.home.write('config.toml', own)
    await request(node.dispatch, 'setActiveModel', { model: model! }, NEVER)
    assert.ok((await node.home.read('config.toml')).includes(`model = "${model}"`))
  }
})

test('set_active_model accepts the name of a listed model without its date', async () => {
  await using server = await startModelServer([], {
    models: ['claude-sonnet-5-5', 'claude-haiku-4-5-20251001'],
  })
  await using node = await startTestDispatch([])
  const own = `[[providers]]\nname = "own"\nkind = "anthropic"\nbase_url = "${server.url}"\napi_key = "k"\n`
  await node.home.write('config.toml', own)
  const use = (model: string) => request(node.dispatch, 'setActiveModel', { model }, NEVER)
  for (const model of ['claude-haiku-4-5', 'own/claude-haiku-4-5', 'claude-haiku-4-5-20251001'])
    await use(model)
  assert.match(await node.home.read('config.toml'), /model = "claude-haiku-4-5-20251001"/)
  await assert.rejects(use('claude-haiku-4'), { kind: 'missing', hint: /claude-haiku-4-5/ })
})

test('set_active_model rejects an unknown name even if another provider cannot list its models', async () => {
  await using server = await startModelServer([], { models: ['claude-sonnet-5-5'] })
  const claude = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: server.url }
  const env = { ...claude, OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }
  await using node = await startTestDispatch([], { env })
  await node.home.write('config.toml', '')
  const use = (model: string) => request(node.dispatch, 'setActiveModel', { model }, NEVER)
  await assert.rejects(use('claude-sonet-5-5'), {
    kind: 'missing',
    hint: 'did you mean "claude-sonnet-5-5"?',
  })
  await use('gpt-mine')
  assert.match(await node.home.read('config.toml'), /^model = "gpt-mine"$/m)
})
