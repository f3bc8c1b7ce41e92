import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ProviderConfig } from '../../../src/core/config/config.ts'
import { endpointFromEnv, toEndpoint } from '../../../src/core/provider/endpoint.ts'
import { PRESETS } from '../../../src/core/provider/presets.ts'
import { collectFailure, modelRequest } from '../../support/model-calls.ts'
import {
  askModel,
  makeModelConfig,
  makeProviderConfig,
  openRegistryWith,
} from '../../support/model-registry.ts'
import { startModelServer } from '../../support/model-server.ts'

const NEVER = new AbortController().signal

test('listModels() reads Google’s list', async () => {
  await using server = await startModelServer([], {
    models: ['gemini-embedding-x', 'aqa', 'gemini-3.8-flash'],
  })
  const url = server.url.replace('/v1', '')
  const models = await openRegistryWith({ env: { GEMINI_API_KEY: 'AIza-mine', GEMINI_BASE_URL: url } })
  const { models: all } = await models.listAll(NEVER)
  assert.deepEqual(
    all.map(({ name }) => name),
    ['gemini-3.8-flash', 'demo'],
  )
  assert.equal(server.questions[0]?.path, '/v1beta/models?pageSize=1000')
  assert.equal(server.questions[0]?.headers['x-goog-api-key'], 'AIza-mine')
})

test('an API key variable that cannot be sent as a header is reported, not the network', async () => {
  await using server = await startModelServer([])
  const models = await openRegistryWith({
    env: { ANTHROPIC_API_KEY: '“sk-1”', ANTHROPIC_BASE_URL: server.url },
  })
  const expected = {
    kind: 'credentials',
    message:
      /^Cannot use provider "anthropic": ANTHROPIC_API_KEY holds a character that no HTTP header takes/,
  }
  const { failures } = await models.listAll(NEVER)
  assert.match(failures[0]?.message ?? '', expected.message)
  assert.throws(() => models.getSource('claude-x').check?.(), expected)
  assert.deepEqual(server.questions, [])
})

test('listModels() reads Anthropic’s whole list', async () => {
  await using server = await startModelServer([], { models: ['claude-x'] })
  const models = await openRegistryWith({ env: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: server.url } })
  await models.listAll(NEVER)
  assert.equal(server.questions[0]?.path, '/v1/models?limit=1000')
})

test('openModels() requests no list from Azure and Bedrock', async () => {
  await using server = await startModelServer([])
  const url = `http://127.0.0.1:${server.port}`
  const env = {
    AZURE_API_KEY: 'k',
    AZURE_OPENAI_ENDPOINT: url,
    AWS_BEARER_TOKEN_BEDROCK: 'k',
    BEDROCK_BASE_URL: url,
  }
  const models = await openRegistryWith({ env })
  const { failures } = await models.listAll(NEVER)
  assert.deepEqual([failures, server.questions], [[], []])
})

test('openModels() recognizes Bedrock’s names among those of other providers', async () => {
  const env = {
    ...{ OPENAI_API_KEY: 'k', OPENROUTER_API_KEY: 'k', GROQ_API_KEY: 'k', MISTRAL_API_KEY: 'k' },
    ...{ AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'eu-west-1' },
  }
  const findOwner = async (model: string) =>
    (await openRegistryWith({ env, model })).list().find(({ active }) => active)?.provider
  for (const name of [
    'anthropic.claude-haiku-4-5-20251001-v1:0',
    'us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'openai.gpt-oss-120b-1:0',
    'mistral.mistral-large-2402-v1:0',
    'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc',
  ])
    assert.equal(await findOwner(name), 'bedrock', name)
  assert.equal(await findOwner('gpt-oss-20b'), 'groq')
  assert.equal(await findOwner('mistral-medium-latest'), 'mistral')
})

test('openModels() uses the default of the region at Bedrock, and none where it is uncertain', async () => {
  const defaultIn = async (region: string) =>
    (await openRegistryWith({ env: { AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: region } })).defaultModel()
  for (const region of ['us-east-1', 'eu-central-1', 'ap-southeast-2', 'me-central-1'])
    assert.equal(await defaultIn(region), 'global.anthropic.claude-sonnet-5-5')
  assert.equal(await defaultIn('us-gov-west-1'), 'us-gov.anthropic.claude-sonnet-5-5')
  for (const region of ['cn-north-1', 'eusc-de-east-1'])
    await assert.rejects(defaultIn(region), {
      kind: 'config',
      message: /^Cannot choose a model: "bedrock" \(.*\) cannot list its models$/,
      hint: /^name a model or an inference profile of your region with --model/,
    })
  const gov = makeProviderConfig({ kind: 'bedrock', region: 'us-gov-east-1' })
  const models = await openRegistryWith({ config: makeModelConfig([gov]), env: { AWS_REGION: 'eu-west-1' } })
  assert.equal(models.defaultModel(), 'us-gov.anthropic.claude-sonnet-5-5')
})

test('openModels() finds the models that AWS and Azure variables describe', async () => {
  const answer = () => ({ parts: ['ok'] })
  await using server = await startModelServer(answer)
  const url = `http://127.0.0.1:${server.port}`
  const bearer = { AWS_BEARER_TOKEN_BEDROCK: 'bedrock-key', AWS_REGION: 'eu-west-1' }
  await askModel(await openRegistryWith({ env: { ...bearer, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url } }))
  const keys = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 's', AWS_DEFAULT_REGION: 'eu-west-3' }
  await askModel(
    await openRegistryWith({ env: { ...keys, AWS_ENDPOINT_URL: url } }),
    'us.amazon.nova-pro-v1:0',
  )
  const azure = { AZURE_OPENAI_API_KEY: 'azure-key', AZURE_OPENAI_ENDPOINT: `${url}/` }
  await askModel(await openRegistryWith({ env: { ...azure, AZURE_OPENAI_DEPLOYMENT_NAME: 'our-gpt' } }))
  const [first, second, third] = server.requests
  assert.equal(first?.path, '/model/global.anthropic.claude-sonnet-5-5/converse-stream')
  assert.equal(first?.headers.authorization, 'Bearer bedrock-key')
  assert.equal(second?.path, '/model/us.amazon.nova-pro-v1%3A0/converse-stream')
  assert.match(second?.headers.authorization ?? '', /Credential=AKID\/\d{8}\/eu-west-3\/bedrock\//)
  assert.deepEqual([third?.path, third?.json['model']], ['/openai/v1/responses', 'our-gpt'])
  assert.equal(third?.headers['api-key'], 'azure-key')
})

test('openModels() prefers region and profile of config.toml to the environment’s', async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await mkdir(join(home.path, '.aws'))
  const keys = '[dev]\naws_access_key_id = AKIDDEV\naws_secret_access_key = s\n'
  await writeFile(join(home.path, '.aws/credentials'), keys)
  await using server = await startModelServer(() => ({ parts: ['ok'] }))
  const base = { kind: 'bedrock', baseUrl: `http://127.0.0.1:${server.port}` } as const
  const env = { HOME: home.path, AWS_BEARER_TOKEN_BEDROCK: 'other', AWS_REGION: 'us-west-2' }
  await askModel(
    await openRegistryWith({
      config: makeModelConfig([makeProviderConfig({ ...base, profile: 'dev', region: 'eu-north-1' })]),
      env,
    }),
  )
  const { headers } = server.requests[0] ?? assert.fail()
  assert.match(headers.authorization ?? '', /Credential=AKIDDEV\/\d{8}\/eu-north-1\/bedrock\//)
  const gone = makeProviderConfig({ ...base, profile: 'gone' })
  const models = await openRegistryWith({ config: makeModelConfig([gone]), env })
  const { error } = await collectFailure(models.complete(modelRequest({ model: 'x' }), NEVER))
  assert.deepEqual(
    [error.kind, error.message],
    ['config', 'Cannot use AWS profile "gone": ~/.aws does not have that profile'],
  )
})

test('openModels() says where a missing key should come from', async () => {
  await using server = await startModelServer(() => ({ status: 401 }))
  const readHint = async (more: Partial<ProviderConfig>, env = {}) => {
    const models = await openRegistryWith({
      config: makeModelConfig([makeProviderConfig({ baseUrl: server.url, ...more })]),
      env,
    })
    return (await collectFailure(models.complete(modelRequest({ model: 'x' }), NEVER))).error.hint
  }
  assert.equal(
    await readHint({ kind: 'google' }),
    'no key is set: set one (GEMINI_API_KEY), or use crabtalk connect',
  )
  assert.equal(
    await readHint({ kind: 'bedrock' }),
    'no key is set: set one (AWS_BEARER_TOKEN_BEDROCK), or use crabtalk connect',
  )
  assert.equal(
    await readHint({ kind: 'azure' }, { AZURE_API_KEY: 'k' }),
    'check the key (AZURE_API_KEY), or replace it: crabtalk connect',
  )
  assert.equal(
    await readHint({ kind: 'azure', apiKey: 'k' }),
    'check the key (config.toml:1), or replace it: crabtalk connect',
  )
})

test('a daemon names the variable that it was started without', async () => {
  const config = makeModelConfig([makeProviderConfig({ kind: 'anthropic', baseUrl: undefined })])
  const models = await openRegistryWith({ config, env: {}, isInDaemon: true })
  const { error } = await collectFailure(models.complete(modelRequest({ model: 'x' }), NEVER))
  assert.equal(error.kind, 'credentials')
  assert.match(error.message, /: the daemon was started without ANTHROPIC_API_KEY$/)
  assert.match(error.hint!, /crabtalk daemon stop.*service\.env.*crabtalk connect$/)
})

test('ModelSource.check() fails as a call would, without a call', async () => {
  const home = { HOME: '/nonexistent' }
  const failing: [Partial<ProviderConfig>, RegExp][] = [
    [{ kind: 'azure', baseUrl: undefined }, /base_url is missing$/],
    [{ kind: 'bedrock', baseUrl: undefined, profile: 'gone' }, /does not have that profile$/],
    [{ kind: 'bedrock', baseUrl: undefined }, /: no key is set$/],
    [{ kind: 'azure', baseUrl: 'https://mine.openai.azure.com' }, /: no key is set$/],
    [{ kind: 'anthropic', baseUrl: undefined }, /: no key is set$/],
  ]
  for (const [more, message] of failing) {
    const models = await openRegistryWith({
      config: makeModelConfig([makeProviderConfig({ ...more, models: [{ name: 'x' }] })]),
      env: home,
    })
    const { error } = await collectFailure(models.complete(modelRequest({ model: 'x' }), NEVER))
    assert.match(error.message, message)
    const { kind, hint } = error
    assert.throws(() => models.getSource('x').check?.(), { kind, message: error.message, hint })
    assert.throws(() => models.prepare('x'), { kind })
  }
  const fine: Partial<ProviderConfig>[] = [
    { kind: 'bedrock' }, // a gateway may want no key
    { kind: 'bedrock', baseUrl: undefined, apiKey: 'k' },
    { kind: 'azure', baseUrl: 'https://mine.openai.azure.com', apiKey: 'k' },
  ]
  for (const more of fine) {
    const models = await openRegistryWith({ config: makeModelConfig([makeProviderConfig(more)]), env: home })
    models.getSource('x').check?.()
  }
})

test('endpointFromEnv() builds an address from an Azure resource, and names the variable', () => {
  const azure = PRESETS.find(({ kind }) => kind === 'azure')!
  const named = endpointFromEnv(azure, { AZURE_API_KEY: 'k', AZURE_RESOURCE_NAME: 'mine' })
  assert.deepEqual(
    [named?.baseUrl, named?.where, named?.keyFrom],
    ['https://mine.openai.azure.com/openai/v1', 'AZURE_RESOURCE_NAME', 'AZURE_API_KEY'],
  )
  const env = { AZURE_API_KEY: 'k', AZURE_RESOURCE_NAME: 'mine', AZURE_OPENAI_ENDPOINT: 'https://other.test' }
  assert.equal(endpointFromEnv(azure, env)?.baseUrl, 'https://other.test/openai/v1')
  assert.equal(endpointFromEnv(azure, { AZURE_API_KEY: 'k' }), undefined)
})

test('toEndpoint() has a longer timeout where nothing arrives while a model thinks', () => {
  const readIdleMs = (more: Partial<ProviderConfig>) => toEndpoint(makeProviderConfig(more), {}).idleMs
  assert.equal(readIdleMs({}), 90_000)
  assert.equal(readIdleMs({ kind: 'anthropic' }), 90_000)
  for (const kind of ['google', 'bedrock', 'azure'] as const) assert.equal(readIdleMs({ kind }), 300_000)
  assert.equal(readIdleMs({ kind: 'openai', baseUrl: 'https://api.openai.com/v1' }), 300_000)
})
