import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Config, ProviderConfig } from '../../../src/core/config/config.ts'
import { type ModelSetting, openModels } from '../../../src/core/provider/discover.ts'
import { collect, collectFailure, modelRequest, textOf } from '../../support/model-calls.ts'
import { type ModelServer, startModelServer } from '../../support/model-server.ts'

const NEVER = new AbortController().signal

test('openModels() uses what config.toml declares, and nothing else', async () => {
  await using server = await startModelServer([{ parts: ['from the config'] }])
  const models = await open({
    config: config([provider({ name: 'mine', baseUrl: server.url, models: [{ name: 'one', context: 5 }] })]),
    env: { ANTHROPIC_API_KEY: 'sk-ant-0123456789' },
  })
  assert.deepEqual(models.list()[0], { name: 'one', provider: 'mine', active: true, facts: { context: 5 } })
  assert.deepEqual(namesIn(models), ['one', 'demo'])
  assert.equal(await say(models), 'from the config')
})

test('openModels() takes the default of config.toml, and what a person asks for before it', async () => {
  const setting = {
    config: config([provider({ models: [{ name: 'one' }, { name: 'two' }] })], 'two'),
    env: {},
  }
  assert.equal((await open(setting)).defaultModel(), 'two')
  assert.equal((await open({ ...setting, model: 'one' })).defaultModel(), 'one')
  await assert.rejects(open({ ...setting, model: 'three' }), {
    kind: 'config',
    message: /there is one, two, demo$/,
  })
})

test('openModels() asks an endpoint that names no model what it has', async () => {
  await using server = await startModelServer([], { models: ['text-embedding-x', 'llama', 'qwen'] })
  const models = await open({ config: config([provider({ name: 'llm', baseUrl: server.url })]), env: {} })
  assert.equal(models.defaultModel(), 'llama')
  const { models: all } = await models.listAll(NEVER)
  assert.deepEqual(
    all.map(({ name }) => name),
    ['demo', 'llama', 'qwen'],
  )
})

test('openModels() uses a known default where it surely is', async () => {
  await using server = await startModelServer([], { models: ['theirs'] })
  const defaultOf = async (more: Partial<ProviderConfig>, env = {}) =>
    (await open({ config: config([provider(more)]), env })).defaultModel()
  const here = server.url
  assert.equal(await defaultOf({ kind: 'openai', baseUrl: undefined }), 'gpt-6-sol')
  assert.equal(await defaultOf({ kind: 'openai', baseUrl: here }), 'theirs')
  assert.equal(await defaultOf({ kind: 'openai', baseUrl: undefined }, { OPENAI_BASE_URL: here }), 'theirs')
  assert.equal(await defaultOf({ kind: 'anthropic', baseUrl: here }), 'claude-sonnet-5-5')
  assert.equal(await defaultOf({ kind: 'google', baseUrl: here }), 'gemini-3.8-flash')
  assert.equal(await defaultOf({ kind: 'bedrock', baseUrl: undefined }), 'global.anthropic.claude-sonnet-5-5')
  const deployment = { AZURE_OPENAI_DEPLOYMENT: 'my-gpt' }
  assert.equal(await defaultOf({ kind: 'azure', baseUrl: here }, deployment), 'my-gpt')
  await assert.rejects(defaultOf({ kind: 'azure', baseUrl: here }), {
    message: 'Cannot choose a model: "test" (config.toml:1) cannot be asked what it has',
    hint: /^name your deployment with --model or AZURE_OPENAI_DEPLOYMENT/,
  })
})

test('openModels() is without a default, not without models, when an endpoint cannot say what it has', async () => {
  await using empty = await startModelServer([{ parts: ['still here'] }], { models: [] })
  const models = await open({ config: config([provider({ name: 'llm', baseUrl: empty.url })]), env: {} })
  assert.throws(() => models.defaultModel(), { kind: 'config', message: /says it has none$/ })
  assert.equal(await say(models, 'llama'), 'still here')
  const gone = await open({ config: config([provider({ baseUrl: await deadAddress() })]), env: {} })
  assert.throws(() => gone.defaultModel(), { kind: 'unavailable' })
})

test('openModels() lets a provider it cannot use be an error of its own', async () => {
  const deployments = [{ name: 'gpt' }]
  const azure = provider({
    name: 'az',
    kind: 'azure',
    where: 'config.toml:9',
    baseUrl: undefined,
    models: deployments,
  })
  const models = await open({ config: config([provider({ models: [{ name: 'one' }] }), azure]), env: {} })
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
    const active = (await open({ env })).list().find((entry) => entry.active)
    assert.equal(active?.provider, name)
  }
  const empty = await open({ env: { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: 'k' } })
  assert.equal(empty.list()[0]?.provider, 'openai')
})

test('openModels() finds the provider of a name among several keys', async () => {
  const models = await open({
    env: { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' },
    model: 'gpt-6-luna',
  })
  assert.equal(models.list().find(({ active }) => active)?.provider, 'openai')
})

test('openModels() goes where the base URL of the environment points', async () => {
  await using claude = await startModelServer([{ parts: ['messages'] }])
  const anthropic = await open({
    env: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: claude.url.replace('/v1', '/') },
  })
  assert.equal(await say(anthropic), 'messages')
  assert.equal(claude.requests[0]?.path, '/v1/messages')
  assert.equal(claude.requests[0]?.json['model'], 'claude-sonnet-5-5')
  await using gpt = await startModelServer([{ parts: ['chat'] }], { models: ['local-gpt'] })
  const openai = await open({ env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${gpt.url}/chat/completions` } })
  assert.equal(await say(openai), 'chat')
  assert.equal(gpt.requests[0]?.json['model'], 'local-gpt')
})

test('openModels() forgives the line break behind a key that was read from a file', async () => {
  await using server = await startModelServer(() => ({ parts: ['ok'] }))
  const own = provider({ baseUrl: server.url, apiKey: 'sk-mine\n', models: [{ name: 'm' }] })
  await say(await open({ config: config([own]) }))
  await say(await open({ env: { ANTHROPIC_API_KEY: 'sk-ant\n', ANTHROPIC_BASE_URL: server.url } }))
  const [first, second] = server.requests
  assert.equal(first?.headers.authorization, 'Bearer sk-mine')
  assert.equal(second?.headers['x-api-key'], 'sk-ant')
})

test('listModels() shows its key the way the wire wants it', async () => {
  await using server = await startModelServer([])
  const own = provider({ kind: 'anthropic', baseUrl: server.url, apiKey: 'sk-ant' })
  await (await open({ config: config([own]) })).listAll(NEVER)
  assert.equal(server.questions[0]?.headers['x-api-key'], 'sk-ant')
  assert.equal(server.questions[0]?.headers['anthropic-version'], '2023-06-01')
})

test('listModels() understands Google’s list', async () => {
  await using server = await startModelServer([], { models: ['gemini-embedding-x', 'gemini-3.8-flash'] })
  const url = server.url.replace('/v1', '')
  const models = await open({ env: { GEMINI_API_KEY: 'AIza-mine', GEMINI_BASE_URL: url } })
  const { models: all } = await models.listAll(NEVER)
  assert.deepEqual(
    all.map(({ name }) => name),
    ['gemini-3.8-flash', 'demo'],
  )
  assert.equal(server.questions[0]?.path, '/v1beta/models?pageSize=1000')
  assert.equal(server.questions[0]?.headers['x-goog-api-key'], 'AIza-mine')
})

test('openModels() asks Azure and Bedrock for no list', async () => {
  await using server = await startModelServer([])
  const url = `http://127.0.0.1:${server.port}`
  const env = {
    AZURE_API_KEY: 'k',
    AZURE_OPENAI_ENDPOINT: url,
    AWS_BEARER_TOKEN_BEDROCK: 'k',
    BEDROCK_BASE_URL: url,
  }
  const models = await open({ env })
  const { failures } = await models.listAll(NEVER)
  assert.deepEqual([failures, server.questions], [[], []])
})

test('openModels() finds what AWS and Azure variables describe', async () => {
  const answer = () => ({ parts: ['ok'] })
  await using server = await startModelServer(answer)
  const url = `http://127.0.0.1:${server.port}`
  const bearer = { AWS_BEARER_TOKEN_BEDROCK: 'bedrock-key', AWS_REGION: 'eu-west-1' }
  await say(await open({ env: { ...bearer, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url } }))
  const keys = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 's', AWS_DEFAULT_REGION: 'eu-west-3' }
  await say(await open({ env: { ...keys, AWS_ENDPOINT_URL: url } }), 'us.amazon.nova-pro-v1:0')
  const azure = { AZURE_OPENAI_API_KEY: 'azure-key', AZURE_OPENAI_ENDPOINT: `${url}/` }
  await say(await open({ env: { ...azure, AZURE_OPENAI_DEPLOYMENT_NAME: 'our-gpt' } }))
  const [first, second, third] = server.requests
  assert.equal(first?.path, '/model/global.anthropic.claude-sonnet-5-5/converse-stream')
  assert.equal(first?.headers.authorization, 'Bearer bedrock-key')
  assert.equal(second?.path, '/model/us.amazon.nova-pro-v1%3A0/converse-stream')
  assert.match(second?.headers.authorization ?? '', /Credential=AKID\/\d{8}\/eu-west-3\/bedrock\//)
  assert.deepEqual([third?.path, third?.json['model']], ['/openai/v1/responses', 'our-gpt'])
  assert.equal(third?.headers['api-key'], 'azure-key')
})

test('openModels() lets config.toml choose region and profile of AWS before the environment', async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await mkdir(join(home.path, '.aws'))
  const keys = '[dev]\naws_access_key_id = AKIDDEV\naws_secret_access_key = s\n'
  await writeFile(join(home.path, '.aws/credentials'), keys)
  await using server = await startModelServer(() => ({ parts: ['ok'] }))
  const base = { kind: 'bedrock', baseUrl: `http://127.0.0.1:${server.port}` } as const
  const env = { HOME: home.path, AWS_BEARER_TOKEN_BEDROCK: 'other', AWS_REGION: 'us-west-2' }
  await say(
    await open({ config: config([provider({ ...base, profile: 'dev', region: 'eu-north-1' })]), env }),
  )
  const { headers } = server.requests[0] ?? assert.fail()
  assert.match(headers.authorization ?? '', /Credential=AKIDDEV\/\d{8}\/eu-north-1\/bedrock\//)
  const gone = provider({ ...base, profile: 'gone' })
  const models = await open({ config: config([gone]), env })
  const { error } = await collectFailure(models.complete(modelRequest({ model: 'x' }), NEVER))
  assert.deepEqual(
    [error.kind, error.message],
    ['config', 'Cannot use AWS profile "gone": ~/.aws has no such profile'],
  )
})

test('openModels() says where the key is missing from', async () => {
  await using server = await startModelServer(() => ({ status: 401 }))
  const hintOf = async (more: Partial<ProviderConfig>, env = {}) => {
    const models = await open({ config: config([provider({ baseUrl: server.url, ...more })]), env })
    return (await collectFailure(models.complete(modelRequest({ model: 'x' }), NEVER))).error.hint
  }
  assert.equal(await hintOf({ kind: 'google' }), 'there is no key: set one (GEMINI_API_KEY)')
  assert.equal(await hintOf({ kind: 'bedrock' }), 'there is no key: set one (AWS_BEARER_TOKEN_BEDROCK)')
  assert.equal(await hintOf({ kind: 'azure' }, { AZURE_API_KEY: 'k' }), 'check the key (AZURE_API_KEY)')
  assert.equal(await hintOf({ kind: 'azure', apiKey: 'k' }), 'check the key (config.toml:1)')
})

test('openModels() fills in a configured provider from its usual variables, and gives a stranger no key', async () => {
  await using server = await startModelServer(() => ({ parts: ['ok'] }))
  const env = {
    ANTHROPIC_API_KEY: 'sk-ant-0123',
    ANTHROPIC_BASE_URL: server.url,
    OPENAI_API_KEY: 'sk-oa-0123',
  }
  const models = await open({
    config: config([
      provider({ name: 'claude', kind: 'anthropic', baseUrl: undefined, models: [{ name: 'c' }] }),
      provider({ name: 'stranger', baseUrl: server.url, models: [{ name: 's' }] }),
    ]),
    env,
  })
  await say(models, 'c')
  await say(models, 's')
  assert.equal(server.requests[0]?.headers['x-api-key'], 'sk-ant-0123')
  assert.equal(server.requests[1]?.headers.authorization, undefined)
})

test('openModels() finds a server on this machine when there is no key', async () => {
  await using server = await startModelServer([{ parts: ['local'] }], { models: ['llama'] })
  const models = await open({ localServers: [{ name: 'ollama', port: server.port }] })
  const facts = { inputUsd: 0, outputUsd: 0 }
  assert.deepEqual(models.list()[0], { name: 'llama', provider: 'ollama', active: true, facts })
  assert.equal(await say(models), 'local')
})

test('openModels() prefers local servers in their order, and passes by what is none', async () => {
  await using first = await startModelServer([], { models: ['a'] })
  await using second = await startModelServer([], { models: ['b'] })
  await using silent = await listenSilently()
  const servers = [silent, first, second].map(({ port }, at) => ({ name: `s${at}`, port }))
  const models = await open({ localServers: servers })
  assert.equal(models.defaultModel(), 'a')
})

test('openModels() ends with the demo, and names a key that lacks something', async () => {
  for (const [name, lack] of [
    ['AZURE_OPENAI_API_KEY', /AZURE_OPENAI_API_KEY is set, but neither AZURE_OPENAI_ENDPOINT nor/],
    ['AWS_ACCESS_KEY_ID', /AWS_ACCESS_KEY_ID is set, but not AWS_SECRET_ACCESS_KEY/],
  ] as const) {
    const models = await open({ env: { [name]: 'k' } })
    assert.equal(models.defaultModel(), 'demo')
    const [notice] = await collect(models.complete(modelRequest({ model: 'demo' }), NEVER))
    assert.match(notice?.type === 'notice' ? notice.message : '', lack)
  }
  await assert.rejects(open({ model: 'claude-sonnet-5-5' }), {
    kind: 'config',
    message: 'Cannot find model "claude-sonnet-5-5": there is demo',
    hint: /^set ANTHROPIC_API_KEY/,
  })
})

test('openModels() has the demo by name beside all others, unless the name is taken', async () => {
  const models = await open({ env: { OPENAI_API_KEY: 'k' }, model: 'demo' })
  assert.match(await say(models), /built-in demo/)
  await using server = await startModelServer([{ parts: ['mine'] }])
  const own = provider({ baseUrl: server.url, models: [{ name: 'demo' }] })
  assert.equal(await say(await open({ config: config([own]) })), 'mine')
})

test('openModels() fails with config on a base URL that is none', async () => {
  await assert.rejects(open({ env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'localhost:4000' } }), {
    kind: 'config',
    message: 'Cannot use base_url (OPENAI_BASE_URL): it is no http address',
  })
})

function open(setting: Partial<ModelSetting>) {
  return openModels({ config: config([]), env: {}, localServers: [], ...setting }, NEVER)
}

function config(
  providers: ProviderConfig[],
  defaultModel?: string,
): Pick<Config, 'providers' | 'defaultModel'> {
  return { providers, defaultModel }
}

function provider(more: Partial<ProviderConfig>): ProviderConfig {
  return {
    name: 'test',
    kind: 'openai-compatible',
    apiKey: undefined,
    baseUrl: 'http://127.0.0.1:1/v1',
    models: undefined,
    timeoutMs: 20_000,
    maxRetries: 0,
    where: 'config.toml:1',
    ...more,
  }
}

async function say(models: Awaited<ReturnType<typeof open>>, model = models.defaultModel()): Promise<string> {
  return textOf(await collect(models.complete(modelRequest({ model }), NEVER)))
}

function namesIn(models: Awaited<ReturnType<typeof open>>): string[] {
  return models.list().map(({ name }) => name)
}

async function deadAddress(): Promise<string> {
  const server: ModelServer = await startModelServer([])
  await server[Symbol.asyncDispose]()
  return server.url
}

/** A port that takes connections and never says a word. */
async function listenSilently() {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}
