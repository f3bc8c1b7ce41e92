import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import type { ProviderConfig } from '../../../src/core/config/config.ts'
import type { ModelRegistry } from '../../../src/core/provider/registry.ts'
import { collect, collectFailure, modelRequest } from '../../support/model-calls.ts'
import {
  askModel,
  makeModelConfig,
  makeProviderConfig,
  openRegistryWith,
} from '../../support/model-registry.ts'
import { type ModelServer, startModelServer } from '../../support/model-server.ts'

const NEVER = new AbortController().signal

test('openModels() uses only what config.toml declares', async () => {
  await using server = await startModelServer([{ parts: ['from the config'] }])
  const models = await openRegistryWith({
    config: makeModelConfig([
      makeProviderConfig({ name: 'mine', baseUrl: server.url, models: [{ name: 'one', context: 5 }] }),
    ]),
    env: { ANTHROPIC_API_KEY: 'sk-ant-0123456789' },
  })
  assert.deepEqual(models.list()[0], { name: 'one', provider: 'mine', active: true, facts: { context: 5 } })
  assert.deepEqual(namesIn(models), ['one', 'demo'])
  assert.equal(await askModel(models), 'from the config')
})

test('openModels() uses the default of config.toml, unless the user asks for another', async () => {
  const setting = {
    config: makeModelConfig([makeProviderConfig({ models: [{ name: 'one' }, { name: 'two' }] })], 'two'),
    env: {},
  }
  assert.equal((await openRegistryWith(setting)).defaultModel(), 'two')
  assert.equal((await openRegistryWith({ ...setting, model: 'one' })).defaultModel(), 'one')
  await assert.rejects(openRegistryWith({ ...setting, model: 'three' }), {
    kind: 'config',
    message: /it is not one of one, two, demo$/,
  })
})

test('openModels() asks an endpoint without declared models for its list', async () => {
  await using server = await startModelServer([], { models: ['text-embedding-x', 'llama', 'qwen'] })
  const models = await openRegistryWith({
    config: makeModelConfig([makeProviderConfig({ name: 'llm', baseUrl: server.url })]),
    env: {},
  })
  assert.equal(models.defaultModel(), 'llama')
  const { models: all } = await models.listAll(NEVER)
  assert.deepEqual(
    all.map(({ name }) => name),
    ['demo', 'llama', 'qwen'],
  )
})

test('openModels() uses a known default where it certainly exists', async () => {
  await using server = await startModelServer([], { models: ['theirs'] })
  const findDefault = async (more: Partial<ProviderConfig>, env = {}) =>
    (await openRegistryWith({ config: makeModelConfig([makeProviderConfig(more)]), env })).defaultModel()
  const here = server.url
  assert.equal(await findDefault({ kind: 'openai', baseUrl: undefined }), 'gpt-6-sol')
  assert.equal(await findDefault({ kind: 'openai', baseUrl: here }), 'theirs')
  assert.equal(await findDefault({ kind: 'openai', baseUrl: undefined }, { OPENAI_BASE_URL: here }), 'theirs')
  assert.equal(await findDefault({ kind: 'anthropic', baseUrl: here }), 'claude-sonnet-5-5')
  assert.equal(await findDefault({ kind: 'google', baseUrl: here }), 'gemini-3.8-flash')
  const deployment = { AZURE_OPENAI_DEPLOYMENT: 'my-gpt' }
  assert.equal(await findDefault({ kind: 'azure', baseUrl: here }, deployment), 'my-gpt')
  await assert.rejects(findDefault({ kind: 'azure', baseUrl: here }), {
    message: 'Cannot choose a model: "test" (config.toml:1) cannot list its models',
    hint: /^name your deployment with --model or AZURE_OPENAI_DEPLOYMENT/,
  })
})

test('openModels() recognizes a vendor by any spelling of its address', async () => {
  const findDefault = async (more: Partial<ProviderConfig>) => {
    const models = await openRegistryWith({
      config: makeModelConfig([makeProviderConfig({ kind: 'openai', apiKey: 'k', ...more })]),
      env: {},
    })
    return models.list()[0]?.name
  }
  for (const baseUrl of [
    ...['https://api.openai.com/v1/', 'https://api.openai.com', 'https://eu.api.openai.com/v1'],
    ...['https://API.openai.com/v1/responses', 'https://api.openai.com/v1/chat/completions'],
  ])
    assert.equal(await findDefault({ baseUrl }), 'gpt-6-sol', baseUrl)
  const google = 'https://generativelanguage.googleapis.com/v1beta/openai/'
  assert.equal(await findDefault({ kind: 'google', baseUrl: google }), 'gemini-3.8-flash')
  const groq = { GROQ_API_KEY: 'k', GROQ_BASE_URL: 'https://api.groq.com/openai/v1/' }
  assert.equal((await openRegistryWith({ env: groq })).defaultModel(), 'openai/gpt-oss-120b')
})

test('openModels() has no default, but still models, when an endpoint cannot list them', async () => {
  await using empty = await startModelServer([{ parts: ['still here'] }], { models: [] })
  const models = await openRegistryWith({
    config: makeModelConfig([makeProviderConfig({ name: 'llm', baseUrl: empty.url })]),
    env: {},
  })
  assert.throws(() => models.defaultModel(), { kind: 'config', message: /reports no models$/ })
  assert.equal(await askModel(models, 'llama'), 'still here')
  const gone = await openRegistryWith({
    config: makeModelConfig([makeProviderConfig({ baseUrl: await deadAddress() })]),
    env: {},
  })
  assert.throws(() => gone.defaultModel(), { kind: 'unavailable' })
})

test('openModels() reports an unusable provider only when it is used', async () => {
  const deployments = [{ name: 'gpt' }]
  const azure = makeProviderConfig({
    name: 'az',
    kind: 'azure',
    where: 'config.toml:9',
    baseUrl: undefined,
    models: deployments,
  })
  const models = await openRegistryWith({
    config: makeModelConfig([makeProviderConfig({ models: [{ name: 'one' }] }), azure]),
    env: {},
  })
  assert.equal(models.defaultModel(), 'one')
  const { error } = await collectFailure(models.complete(modelRequest({ model: 'gpt' }), NEVER))
  assert.equal(error.kind, 'config')
  assert.equal(error.message, 'Cannot use provider "az" (config.toml:9): base_url is missing')
  assert.match(error.hint ?? '', /https:\/\/RESOURCE\.openai\.azure\.com.*AZURE_OPENAI_ENDPOINT/)
})

test('openModels() finds keys in the order of the first run', async () => {
  const env: Record<string, string> = {
    AZURE_OPENAI_DEPLOYMENT: 'gpt',
    AZURE_RESOURCE_NAME: 'mine',
    AWS_SECRET_ACCESS_KEY: 'k',
    AWS_REGION: 'eu-west-1',
  }
  const order: [string, string][] = [
    ['AZURE_API_KEY', 'azure'],
    ['AWS_ACCESS_KEY_ID', 'bedrock'],
    ['DEEPSEEK_API_KEY', 'deepseek'],
    ['XAI_API_KEY', 'xai'],
    ['MISTRAL_API_KEY', 'mistral'],
    ['GROQ_API_KEY', 'groq'],
    ['OPENROUTER_API_KEY', 'openrouter'],
    ['GOOGLE_API_KEY', 'gemini'],
    ['OPENAI_API_KEY', 'openai'],
    ['ANTHROPIC_API_KEY', 'anthropic'],
  ]
  for (const [variable, name] of order) {
    env[variable] = 'k'
    const active = (await openRegistryWith({ env })).list().find((entry) => entry.active)
    assert.equal(active?.provider, name)
  }
  const empty = await openRegistryWith({ env: { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: 'k' } })
  assert.equal(empty.list()[0]?.provider, 'openai')
})

test('openModels() finds the provider of a name among several keys', async () => {
  const models = await openRegistryWith({
    env: { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' },
    model: 'gpt-6-luna',
  })
  assert.equal(models.list().find(({ active }) => active)?.provider, 'openai')
})

test('openModels() uses the base URL of the environment', async () => {
  await using claude = await startModelServer([{ parts: ['messages'] }])
  const anthropic = await openRegistryWith({
    env: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: claude.url.replace('/v1', '/') },
  })
  assert.equal(await askModel(anthropic), 'messages')
  assert.equal(claude.requests[0]?.path, '/v1/messages')
  assert.equal(claude.requests[0]?.json['model'], 'claude-sonnet-5-5')
  await using gpt = await startModelServer([{ parts: ['chat'] }], { models: ['local-gpt'] })
  const openai = await openRegistryWith({
    env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${gpt.url}/chat/completions` },
  })
  assert.equal(await askModel(openai), 'chat')
  assert.equal(gpt.requests[0]?.json['model'], 'local-gpt')
})

test('openModels() accepts a line break after a key that was read from a file', async () => {
  await using server = await startModelServer(() => ({ parts: ['ok'] }))
  const own = makeProviderConfig({ baseUrl: server.url, apiKey: 'sk-mine\n', models: [{ name: 'm' }] })
  await askModel(await openRegistryWith({ config: makeModelConfig([own]) }))
  await askModel(
    await openRegistryWith({ env: { ANTHROPIC_API_KEY: 'sk-ant\n', ANTHROPIC_BASE_URL: server.url } }),
  )
  const [first, second] = server.requests
  assert.equal(first?.headers.authorization, 'Bearer sk-mine')
  assert.equal(second?.headers['x-api-key'], 'sk-ant')
})

test('listAll() sends the key of a provider the way the wire requires', async () => {
  await using server = await startModelServer([])
  const own = makeProviderConfig({ kind: 'anthropic', baseUrl: server.url, apiKey: 'sk-ant' })
  await (await openRegistryWith({ config: makeModelConfig([own]) })).listAll(NEVER)
  assert.equal(server.questions[0]?.headers['x-api-key'], 'sk-ant')
  assert.equal(server.questions[0]?.headers['anthropic-version'], '2023-06-01')
})

test('openModels() completes a configured provider from its usual variables, and gives an unknown host no key', async () => {
  await using server = await startModelServer(() => ({ parts: ['ok'] }))
  const env = {
    ANTHROPIC_API_KEY: 'sk-ant-0123',
    ANTHROPIC_BASE_URL: server.url,
    OPENAI_API_KEY: 'sk-oa-0123',
  }
  const models = await openRegistryWith({
    config: makeModelConfig([
      makeProviderConfig({ name: 'claude', kind: 'anthropic', baseUrl: undefined, models: [{ name: 'c' }] }),
      makeProviderConfig({ name: 'stranger', baseUrl: server.url, models: [{ name: 's' }] }),
    ]),
    env,
  })
  await askModel(models, 'c')
  await askModel(models, 's')
  assert.equal(server.requests[0]?.headers['x-api-key'], 'sk-ant-0123')
  assert.equal(server.requests[1]?.headers.authorization, undefined)
})

test('openModels() finds a local server when there is no key', async () => {
  await using server = await startModelServer([{ parts: ['local'] }], { models: ['llama'] })
  const models = await openRegistryWith({ localServers: [{ name: 'ollama', port: server.port }] })
  const facts = { inputUsd: 0, outputUsd: 0 }
  assert.deepEqual(models.list()[0], {
    ...{ name: 'llama', provider: 'ollama', active: true, facts },
    foundProgram: 'Ollama',
  })
  assert.equal(await askModel(models), 'local')
})

test('openModels() prefers local servers in their order, and skips invalid ones', async () => {
  await using first = await startModelServer([], { models: ['a'] })
  await using second = await startModelServer([], { models: ['b'] })
  await using silent = await listenSilently()
  const servers = [silent, first, second].map(({ port }, at) => ({ name: `s${at}`, port }))
  const models = await openRegistryWith({ localServers: servers })
  assert.equal(models.defaultModel(), 'a')
})

test('openModels() falls back to the demo, and reports an incomplete key', async () => {
  for (const [name, lack] of [
    ['AZURE_OPENAI_API_KEY', /AZURE_OPENAI_API_KEY is set, but neither AZURE_OPENAI_ENDPOINT nor/],
    ['AWS_ACCESS_KEY_ID', /AWS_ACCESS_KEY_ID is set, but not AWS_SECRET_ACCESS_KEY/],
  ] as const) {
    const models = await openRegistryWith({ env: { [name]: 'k' } })
    assert.equal(models.defaultModel(), 'demo')
    const [notice] = await collect(models.complete(modelRequest({ model: 'demo' }), NEVER))
    assert.match(notice?.type === 'notice' ? notice.message : '', lack)
  }
  await assert.rejects(openRegistryWith({ model: 'claude-sonnet-5-5' }), {
    kind: 'config',
    message: 'Cannot find model "claude-sonnet-5-5": it is not one of demo',
    hint: /^connect a provider with crabtalk connect/,
  })
})

test('openModels() explains a default of config.toml that no source has, and keeps other models callable', async () => {
  for (const [providers, model, hint] of [
    [[], 'gpt-5', 'connect it with crabtalk connect openai, or use --model demo'],
    [[], 'nosuch', /^connect a provider with crabtalk connect, or .*ANTHROPIC_API_KEY, or use --model demo$/],
    [[], 'demmo', 'did you mean "demo"?'],
    [['a', 'b'], 'gpt-5', 'choose another with --model, or write it to config.toml: a, b, demo'],
  ] as const) {
    const own = providers.map((name) => ({ name }))
    const config = {
      ...makeModelConfig(own.length > 0 ? [makeProviderConfig({ models: own })] : [], model),
      defaultModelWhere: 'config.toml:3',
    }
    const models = await openRegistryWith({ config })
    assert.throws(() => models.defaultModel(), {
      kind: 'config',
      message: `Cannot use the model "${model}" (config.toml:3): no connected provider has it`,
      hint,
    })
    assert.match(await askModel(models, 'demo'), /I only know a few commands/)
    models.commit('demo')
    assert.equal(models.defaultModel(), 'demo')
    assert.equal(models.defaultError, undefined)
  }
})

test('openModels() offers the demo by name next to all others, unless the name is taken', async () => {
  const models = await openRegistryWith({ env: { OPENAI_API_KEY: 'k' }, model: 'demo' })
  assert.match(await askModel(models), /I only know a few commands/)
  await using server = await startModelServer([{ parts: ['mine'] }])
  const own = makeProviderConfig({ baseUrl: server.url, models: [{ name: 'demo' }] })
  assert.equal(await askModel(await openRegistryWith({ config: makeModelConfig([own]) })), 'mine')
})

test('openModels() fails with config on an invalid base URL', async () => {
  await assert.rejects(
    openRegistryWith({ env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'localhost:4000' } }),
    {
      kind: 'config',
      message: 'Cannot use base_url (OPENAI_BASE_URL): it is not an http address',
    },
  )
})

function namesIn(models: ModelRegistry): string[] {
  return models.list().map(({ name }) => name)
}

async function deadAddress(): Promise<string> {
  const server: ModelServer = await startModelServer([])
  await server[Symbol.asyncDispose]()
  return server.url
}

/** Opens a port that accepts connections and never answers. */
async function listenSilently() {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}
