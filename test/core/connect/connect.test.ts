import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { toCrabError } from '../../../src/core/base/errors.ts'
import { loadConfig } from '../../../src/core/config/load-config.ts'
import {
  findConnectChoice,
  listConnectChoices,
  listSavedProviders,
} from '../../../src/core/connect/choices.ts'
import { type ConnectionInput, toConnection } from '../../../src/core/connect/connection.ts'
import { saveConnection } from '../../../src/core/connect/save-connection.ts'
import { tryConnection, tryModel } from '../../../src/core/connect/try-connection.ts'
import { openModels } from '../../../src/core/provider/discover.ts'
import type { Env } from '../../../src/core/provider/env.ts'
import { findDeadPort, type ProviderMood, startKeyServer } from '../../support/key-server.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const NEVER = new AbortController().signal
const KEY = 'sk-good-key-0123456789'

function connect(id: string, input: Partial<ConnectionInput>, env: Env = {}) {
  return toConnection({ choice: findConnectChoice(id, env), ...input }, env)
}

test('listConnectChoices() names the variable that holds a key, and asks for what a provider needs', async () => {
  const choices = await listConnectChoices({ GROQ_API_KEY: 'gsk-1', AWS_ACCESS_KEY_ID: 'alone' }, NEVER)
  const byId = new Map(choices.map((choice) => [choice.id, choice]))
  assert.equal(byId.get('groq')?.keyVariable, 'GROQ_API_KEY')
  assert.equal(byId.get('anthropic')?.keyVariable, undefined)
  assert.equal(byId.get('bedrock')?.keyVariable, undefined, 'an AWS key without its secret is not usable')
  assert.deepEqual([byId.get('azure')?.asksAddress, byId.get('azure')?.key], [true, 'required'])
  assert.deepEqual([byId.get('other')?.asksAddress, byId.get('other')?.key], [true, 'optional'])
})

test('findConnectChoice() knows aliases and titles, and suggests the nearest name', () => {
  assert.equal(findConnectChoice('Google', {}).id, 'gemini')
  assert.equal(findConnectChoice('aws', {}).id, 'bedrock')
  assert.equal(findConnectChoice('openai-compatible', {}).id, 'other')
  assert.throws(() => findConnectChoice('antropic', {}), { kind: 'usage', hint: /anthropic/ })
})

test('toConnection() refuses a missing key, a missing address, and a key that cannot be sent', () => {
  assert.throws(() => connect('anthropic', {}), {
    kind: 'credentials',
    hint: /ANTHROPIC_API_KEY.*--key-stdin/,
  })
  assert.throws(() => connect('other', {}), { kind: 'config', message: /address is missing/ })
  assert.throws(() => connect('openai', { apiKey: 'sk-“quoted”' }), {
    kind: 'credentials',
    message: /the key/,
  })
  assert.throws(() => connect('other', { baseUrl: 'gateway' }), {
    kind: 'config',
    message: /not an http address/,
  })
})

test('toConnection() writes an address only where it is not the usual one', () => {
  assert.deepEqual(connect('anthropic', { apiKey: KEY }).table, {
    name: 'anthropic',
    kind: 'anthropic',
    api_key: KEY,
  })
  assert.deepEqual(connect('groq', { apiKey: KEY }).table, {
    name: 'groq',
    kind: 'openai-compatible',
    base_url: 'https://api.groq.com/openai/v1',
    api_key: KEY,
  })
  assert.deepEqual(connect('anthropic', {}, { ANTHROPIC_API_KEY: KEY }).table, {
    name: 'anthropic',
    kind: 'anthropic',
  })
  assert.equal(connect('other', { baseUrl: 'https://api.gateway.example.com/v1' }).name, 'example')
  assert.equal(connect('other', { baseUrl: 'http://127.0.0.1:4000' }).name, '127.0.0.1-4000')
})

test('tryConnection() lists the models with one request, and preselects the usual one', async () => {
  await using server = await startKeyServer(KEY, { models: ['claude-haiku-4-5', 'claude-sonnet-5-5'] })
  const connection = connect('anthropic', { apiKey: `  ${KEY}\n`, baseUrl: server.url })
  const { names, usual } = await tryConnection(connection, {}, NEVER)
  assert.deepEqual([names, usual], [['claude-haiku-4-5', 'claude-sonnet-5-5'], 'claude-sonnet-5-5'])
  assert.deepEqual(server.requests, [{ method: 'GET', path: '/v1/models?limit=1000', key: KEY }])
})

/** The failure of a first request, by what the server does. */
const FAILURES: readonly [ProviderMood, string, RegExp, RegExp][] = [
  [
    'good',
    'credentials',
    /^Cannot connect Anthropic: the key was refused: invalid x-api-key \(401\)$/,
    /^check the key, or create one at https:/,
  ],
  [
    'proxy-login',
    'unavailable',
    /the proxy refused the connection/,
    /^check the proxy proxy\.example:3128 \(HTTP_PROXY\)$/,
  ],
]

for (const [mood, kind, message, hint] of FAILURES) {
  test(`tryConnection() explains the answer of a server: ${mood}, with a wrong key`, async () => {
    await using server = await startKeyServer(KEY, { mood })
    const connection = connect('anthropic', { apiKey: 'sk-wrong-key-9876543210', baseUrl: server.url })
    const env = { HTTP_PROXY: 'http://user:secret@proxy.example:3128' }
    const reason = await tryConnection(connection, env, NEVER).catch(toCrabError)
    assert.ok(reason instanceof Error)
    assert.deepEqual(
      [reason.kind, message.test(reason.message), hint.test(reason.hint ?? '')],
      [kind, true, true],
      `${reason.message} / ${reason.hint}`,
    )
    assert.doesNotMatch(`${reason.message} ${reason.hint}`, /9876543210|secret/)
  })
}

test('tryConnection() explains a server that cannot be reached, directly and behind a proxy', async () => {
  const baseUrl = `http://127.0.0.1:${await findDeadPort()}`
  const connection = connect('other', { baseUrl })
  const failure = {
    kind: 'unavailable',
    message: /cannot reach http:\/\/127\.0\.0\.1.*: connection refused$/,
  }
  await assert.rejects(tryConnection(connection, {}, NEVER), {
    ...failure,
    hint: 'check the network and the address',
  })
  const proxied = { http_proxy: 'http://127.0.0.1:3128' }
  await assert.rejects(tryConnection(connection, proxied, NEVER), {
    hint: /or the proxy 127\.0\.0\.1:3128 \(http_proxy\)$/,
  })
  const excluded = { ...proxied, NO_PROXY: 'localhost, 127.0.0.1' }
  await assert.rejects(tryConnection(connection, excluded, NEVER), {
    hint: 'check the network and the address',
  })
})

test('a server without a list is tried with a model: one that answers, and ones that do not', async () => {
  for (const mood of ['no-list', 'garbage', 'web-page'] as const) {
    await using server = await startKeyServer(KEY, { mood })
    const connection = connect('other', { apiKey: KEY, baseUrl: server.url })
    const { names, usual } = await tryConnection(connection, {}, NEVER)
    assert.deepEqual([names, usual], [[], undefined], mood)
    const trial = tryModel(connection, 'large-1', {}, NEVER)
    if (mood === 'no-list') await trial
    else await assert.rejects(trial, { message: /^Cannot connect http/ }, mood)
  }
})

test('tryConnection() returns the context windows that a provider reports', async () => {
  await using server = await startKeyServer(KEY, { contexts: { 'large-1': 64_000 } })
  const connection = connect('other', { apiKey: KEY, baseUrl: `127.0.0.1:${server.port}` })
  assert.deepEqual([...(await tryConnection(connection, {}, NEVER)).contexts], [['large-1', 64_000]])
  assert.equal(server.requests[0]?.path, '/v1/models')
})

test('a saved provider gets another key and keeps everything else', async () => {
  await using home = await temporaryHome()
  await using server = await startKeyServer(KEY)
  const text = `# mine
model = "large-1"

[[providers]]
name = "gateway"
kind = "openai-compatible"
base_url = "${server.url}"
api_key = "sk-old"
context = { "large-1" = 64000 }
max_retries = 5

[[providers]]
name = "local"
kind = "openai-compatible"
base_url = "http://localhost:1"
`
  await home.write('config.toml', text)
  const [choice, ...others] = listSavedProviders(await loadConfig(home.paths))
  assert.deepEqual([choice?.title, others], ['gateway', []])
  const connection = toConnection({ choice: choice!, apiKey: KEY }, {})
  assert.equal((await tryConnection(connection, {}, NEVER)).names.length, 2)
  const home2 = { paths: home.paths, env: {}, lock: async () => ({ async [Symbol.asyncDispose]() {} }) }
  await saveConnection(home2, { connection, model: undefined }, NEVER)
  assert.equal(await readFile(home.paths.config, 'utf8'), text.replace('sk-old', KEY))
})

test('saveConnection() stores the context window that a provider reports', async () => {
  await using home = await temporaryHome()
  const at = { paths: home.paths, env: {}, lock: async () => ({ async [Symbol.asyncDispose]() {} }) }
  const connection = connect('other', { apiKey: KEY, baseUrl: 'localhost:4000' })
  await saveConnection(at, { connection, model: 'large-1', context: 64_000 }, NEVER)
  await saveConnection(at, { connection, model: 'other/small.1', context: 8_000 }, NEVER)
  const { providers } = await loadConfig(home.paths)
  assert.deepEqual(providers[0]?.contexts, { 'large-1': 64_000, 'other/small.1': 8_000 })
  const models = await openModels({ config: await loadConfig(home.paths), env: {} }, NEVER)
  assert.equal(models.facts('large-1').context, 64_000)
  assert.equal(models.facts('other/small.1').context, 8_000)
  assert.equal(models.facts('toString').context, undefined)
})

test('tryConnection() ends when it is aborted, even if the server never answers', async () => {
  await using server = await startKeyServer(KEY, { mood: 'silent' })
  const stop = new AbortController()
  const trial = tryConnection(connect('openai', { apiKey: KEY, baseUrl: server.url }), {}, stop.signal)
  setImmediate(() => stop.abort())
  await assert.rejects(trial, { kind: 'cancelled' })
})

test('saveConnection() keeps comments and order, replaces the same provider, and is private', async () => {
  await using home = await temporaryHome()
  const { paths } = home
  const before = `# my models
model = "small" # for now

# the gateway of the office
[[providers]]
name = "office"
kind = "openai-compatible"
base_url = "http://127.0.0.1:9"
models = ["small", "gpt-6-sol"]

[env]
A = "1" # kept
`
  await home.write('config.toml', before)
  const save = (connection: ReturnType<typeof connect>, model: string) =>
    saveConnection({ paths, env: {}, lock: async () => NO_LOCK }, { connection, model }, NEVER)
  assert.equal(
    await save(connect('openai', { apiKey: 'sk-first' }), 'gpt-6-sol'),
    'openai/gpt-6-sol',
    'office has a model of that name',
  )
  assert.equal(await save(connect('openai', { apiKey: 'sk-second' }), 'gpt-6-luna'), 'gpt-6-luna')
  assert.equal(
    await save(connect('openrouter', { apiKey: 'sk-or' }), 'openrouter/auto'),
    'openrouter/openrouter/auto',
  )
  const after = await readFile(paths.config, 'utf8')
  for (const line of before.split('\n').filter((one) => one.includes('#') && !one.startsWith('model')))
    assert.ok(after.includes(line), line)
  assert.match(after, /^model = "openrouter\/openrouter\/auto" # for now$/m)
  assert.doesNotMatch(after, /sk-first/)
  assert.equal((await stat(paths.config)).mode & 0o777, 0o600)
  const { providers } = await loadConfig(paths)
  assert.deepEqual(
    providers.map(({ name, apiKey }) => [name, apiKey]),
    [
      ['office', undefined],
      ['openai', 'sk-second'],
      ['openrouter', 'sk-or'],
    ],
  )
})

test('saveConnection() keeps the providers of the environment, and writes nothing into a broken file', async () => {
  await using home = await temporaryHome()
  const { paths } = home
  const env = { GROQ_API_KEY: 'gsk-secret' }
  const into = { paths, env, lock: async () => NO_LOCK }
  await saveConnection(into, { connection: connect('anthropic', { apiKey: KEY }), model: undefined }, NEVER)
  const text = await readFile(paths.config, 'utf8')
  assert.doesNotMatch(text, /gsk-secret|^model/m)
  assert.deepEqual(
    (await loadConfig(paths)).providers.map(({ name }) => name),
    ['anthropic', 'groq'],
  )
  await writeFile(paths.config, 'model = ')
  await assert.rejects(
    saveConnection(into, { connection: connect('anthropic', { apiKey: KEY }), model: 'm' }, NEVER),
    { kind: 'config' },
  )
  assert.equal(await readFile(paths.config, 'utf8'), 'model = ')
})

const NO_LOCK: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} }
