import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { CrabError } from '../../../src/core/base/errors.ts'
import {
  type Config,
  EMPTY_CONFIG,
  normalizeBaseUrl,
  type ProviderConfig,
  toConfig,
} from '../../../src/core/config/config.ts'
import { PROVIDER_KINDS } from '../../../src/core/config/config-schema.ts'
import { loadConfig } from '../../../src/core/config/load-config.ts'
import { parseToml } from '../../../src/core/config/toml.ts'
import { renderToml } from '../../../src/core/config/toml-render.ts'
import { configError } from '../../../src/core/config/validation-issue.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

type ModelText = string | { name: string; context: number; input_usd: number }

interface ProviderText {
  name: string
  kind: ProviderConfig['kind']
  base_url: string
  api_key?: string
  models: ModelText[]
  timeout_ms?: number
  max_retries?: number
}

function read(text: string): Config {
  const document = parseToml('config.toml', text)
  const outcome = document.ok ? toConfig(document.value) : document
  if (!outcome.ok) throw configError(outcome.problems)
  return outcome.value
}

/** Returns the lines a user would see, the hint last. */
function refusal(text: string): string[] {
  try {
    read(text)
  } catch (error) {
    assert.ok(error instanceof CrabError)
    assert.equal(error.kind, 'config')
    return [...error.message.split('\n'), ...(error.hint === undefined ? [] : [`hint: ${error.hint}`])]
  }
  assert.fail('the text was accepted')
}

test('loadConfig() returns an empty configuration for a missing home', async () => {
  await using home = await temporaryHome()
  assert.deepEqual(await loadConfig(home.paths), EMPTY_CONFIG)
})

test('loadConfig() reads config.toml of the home', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', '\uFEFFmodel = "m"\n')
  assert.deepEqual(await loadConfig(home.paths), {
    ...EMPTY_CONFIG,
    defaultModel: 'm',
    defaultModelWhere: 'config.toml:1',
  })
})

test('loadConfig() reports file, line and the nearest key', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', '# mine\n\nmodle = "m"\n')
  await assert.rejects(loadConfig(home.paths), {
    kind: 'config',
    message: 'config.toml:3: unknown key "modle"',
    hint: 'did you mean "model"?',
  })
})

test('loadConfig() says when the file cannot be read', async () => {
  await using home = await temporaryHome()
  await mkdir(home.paths.config, { recursive: true })
  await assert.rejects(loadConfig(home.paths), { kind: 'storage', message: /^Cannot read .*config\.toml: / })
})

test('an API key that cannot be sent as a header is reported with its line', () => {
  const url = 'base_url = "http://localhost"'
  const why =
    'holds a character that no HTTP header takes, such as … or a typographic quote: paste the key itself'
  assert.deepEqual(refusal(`[llm]\napi_key = "sk-…"\n${url}\n`), [`config.toml:2: "llm.api_key" ${why}`])
  assert.deepEqual(refusal(`[[providers]]\nname = "x"\nkind = "openai"\napi_key = "“sk”"\n`), [
    `config.toml:4: "providers[0].api_key" ${why}`,
  ])
  assert.equal(read(`[llm]\napi_key = " sk-é\\n"\n${url}\n`).providers[0]?.apiKey, ' sk-é\n')
})

test('[llm] becomes a provider that accepts any model name, and sets the default model', () => {
  const config = read(`
[llm]
base_url = "http://localhost:4000/v1/"
api_key = "key"
model = "m"
`)
  assert.deepEqual(config, {
    ...EMPTY_CONFIG,
    defaultModel: 'm',
    defaultModelWhere: 'config.toml:5',
    providers: [
      {
        name: 'llm',
        kind: 'openai-compatible',
        apiKey: 'key',
        baseUrl: 'http://localhost:4000/v1',
        models: undefined,
        timeoutMs: 30_000,
        maxRetries: undefined,
        where: 'config.toml:2',
      },
    ],
  })
})

test('[llm] with only a model is not a provider', () => {
  const config = read('[llm]\nbase_url = ""\napi_key = ""\nmodel = "m"\n')
  assert.deepEqual(config, { ...EMPTY_CONFIG, defaultModel: 'm', defaultModelWhere: 'config.toml:4' })
})

test('[[providers]] are normalized and keep their line', () => {
  const { providers } = read(`
[[providers]]
name = "claude"
kind = "anthropic"
models = ["a", { name = "b", context = 1000, input_usd = 3, output_usd = 1.5 }]

[[providers]]
name = "proxy"
kind = "openai-compatible"
base_url = "https://proxy.example/v1/chat/completions"
timeout_ms = 5
max_retries = 0
`)
  assert.deepEqual(providers, [
    {
      name: 'claude',
      kind: 'anthropic',
      apiKey: undefined,
      baseUrl: undefined,
      models: [{ name: 'a' }, { name: 'b', context: 1000, inputUsd: 3, outputUsd: 1.5 }],
      timeoutMs: 30_000,
      maxRetries: undefined,
      where: 'config.toml:2',
    },
    {
      name: 'proxy',
      kind: 'openai-compatible',
      apiKey: undefined,
      baseUrl: 'https://proxy.example/v1',
      models: undefined,
      timeoutMs: 5,
      maxRetries: 0,
      where: 'config.toml:7',
    },
  ])
})

test('a provider of kind bedrock may have a region and a profile', () => {
  const { providers } = read(
    '[[providers]]\nname = "aws"\nkind = "bedrock"\nregion = "eu-west-1"\nprofile = "dev"\n',
  )
  assert.deepEqual([providers[0]?.region, providers[0]?.profile], ['eu-west-1', 'dev'])
})

test('[daemon], [skills] and [env] are read', () => {
  const config = read(`
[daemon]
on_demand = false
tcp_port = 0
tcp_token = false
[skills]
dirs = ["~/skills"]
[env]
LANG = "C"
`)
  assert.deepEqual(config, {
    ...EMPTY_CONFIG,
    daemon: { onDemand: false, tcpPort: 0, tcpToken: false },
    skillDirs: ['~/skills'],
    env: { LANG: 'C' },
  })
})

test('legacy keys of existing homes are dropped', () => {
  const text =
    'tool_choice = "auto"\ncompact_tool_max_len = 1\ncompact_threshold = 2\nauto_restart = true\n[hooks.bash]\ndeny = []\n'
  assert.deepEqual(read(text), EMPTY_CONFIG)
})

for (const [name, text, lines] of [
  [
    'a syntax error, without quoting the line',
    'model = "m"\napi_key = sk-secret\n',
    ['config.toml:2:11: not valid TOML: invalid value', 'hint: text needs quotes: key = "text"'],
  ],
  [
    'an unknown table',
    '[tasks]\nmax = 1\n',
    [
      'config.toml:1: unknown key "tasks"',
      'hint: the keys are daemon, effort, env, llm, mcp, model, permissions, providers, skills, tui',
    ],
  ],
  [
    'a default of MCP servers',
    '[mcp]\ntimeuot_ms = 1\n',
    ['config.toml:2: unknown key "mcp.timeuot_ms"', 'hint: did you mean "timeout_ms"?'],
  ],
  [
    'settings of the chat',
    '[tui]\ntheme = "drak"\ncompact_at = 0.1\nstatus = ["agent", "contxt"]\n[tui.colors]\naccent = "#12"\nfoo = "red"\n',
    [
      'config.toml:2: "tui.theme" must be one of auto, light, dark, high-contrast, ansi, none (did you mean "dark"?)',
      'config.toml:3: "tui.compact_at" must be from 0.2 to 1, or 0 for never',
      'config.toml:4: "tui.status[1]" must be one of agent, mode, vim, model, shared, others, title, context, cost, mcp, directory, daemon (did you mean "context"?)',
      'config.toml:6: "tui.colors.accent" must be #rrggbb, default, or one of black, red, green, yellow, blue, magenta, cyan, white, bright-black, bright-red, bright-green, bright-yellow, bright-blue, bright-magenta, bright-cyan, bright-white',
      'config.toml:7: unknown key "tui.colors.foo" (the keys are accent, code, code-comment, code-function, code-keyword, code-number, code-string, code-type, diff-added, diff-added-background, diff-added-word, diff-removed, diff-removed-background, diff-removed-word, dim, error, success, user-background, warning)',
    ],
  ],
  [
    'an unknown kind',
    '[[providers]]\nname = "a"\nkind = "antropic"\n',
    [
      'config.toml:3: "providers[0].kind" must be one of openai, anthropic, google, bedrock, azure, openai-compatible',
      'hint: did you mean "anthropic"?',
    ],
  ],
  [
    'missing keys at the line of their table',
    '\n[[providers]]\nkind = "openai-compatible"\n',
    [
      'config.toml:2: "providers[0].name" is missing',
      'config.toml:2: "providers[0].base_url" is missing: an openai-compatible provider has no default address',
    ],
  ],
  [
    'keys of AWS elsewhere',
    '[[providers]]\nname = "a"\nkind = "openai"\nregion = "eu-west-1"\n',
    ['config.toml:4: "providers[0].region" is for kind = "bedrock" only'],
  ],
  [
    'a key of [llm] without an address',
    '[llm]\napi_key = "k"\n',
    [
      'config.toml:1: "llm.base_url" is missing: [llm] has a key but no address',
      'hint: for a provider with a default address, write a [[providers]] table with its kind',
    ],
  ],
  [
    'wrong types and ranges, all of them, in the order of the lines',
    'model = 1\nproviders = [{ name = "", kind = "openai", timeout_ms = 0.5, max_retries = -1, models = [3] }]\n[env]\n"A=B" = "x"\nC = 1\n[daemon]\non_demand = "yes"\ntcp_port = 70000\n',
    [
      'config.toml:1: "model" must be a string, not a number',
      'config.toml:2: "providers[0].name" must not be empty',
      'config.toml:2: "providers[0].models[0]" must be a string or a table, not a number',
      'config.toml:2: "providers[0].timeout_ms" must be a whole number, not a number',
      'config.toml:2: "providers[0].max_retries" must be at least 0',
      `config.toml:4: "env.'A=B'" is not a possible variable name`,
      'config.toml:5: "env.C" must be a string, not a number',
      'config.toml:7: "daemon.on_demand" must be true or false, not a string',
      'config.toml:8: "daemon.tcp_port" must be at most 65535',
    ],
  ],
  [
    'a misspelt address, once',
    '[llm]\napi_key = "k"\nbase_urll = "http://localhost"\n',
    ['config.toml:3: unknown key "llm.base_urll"', 'hint: did you mean "base_url"?'],
  ],
  [
    'an invalid address, without quoting it',
    '[llm]\nbase_url = "user:secret@host"\n',
    ['config.toml:2: "llm.base_url" must be an http:// or https:// address'],
  ],
  [
    'a model in a form that it nearly has',
    '[[providers]]\nname = "a"\nkind = "openai"\nmodels = ["x", { name = "y", contxt = 1 }]\n',
    ['config.toml:4: unknown key "providers[0].models[1].contxt"', 'hint: did you mean "context"?'],
  ],
  [
    'an empty list of models',
    '[[providers]]\nname = "a"\nkind = "openai"\nmodels = []\n',
    ['config.toml:4: "providers[0].models" must not be empty'],
  ],
  [
    'a model name in two providers',
    '[[providers]]\nname = "a"\nkind = "openai"\nmodels = ["m"]\n\n[[providers]]\nname = "b"\nkind = "openai"\nmodels = [{ name = "m" }]\n',
    ['config.toml:9: there is a second provider of the model "m"; the first is at config.toml:4'],
  ],
  [
    'two providers with one name',
    '[llm]\nbase_url = "http://localhost"\n[[providers]]\nname = "llm"\nkind = "openai"\nmodels = ["m"]\n',
    ['config.toml:3: there is a second provider named "llm"; the first is at config.toml:1'],
  ],
  [
    'two default models',
    'model = "a"\n[llm]\nmodel = "b"\n',
    ['config.toml:3: there is a second default model; the first is at config.toml:1'],
  ],
  [
    'clashes with other problems',
    'model = "a"\nx = 1\n[llm]\nmodel = "b"\n',
    [
      'config.toml:2: unknown key "x" (the keys are daemon, effort, env, llm, mcp, model, permissions, providers, skills, tui)',
      'config.toml:4: there is a second default model; the first is at config.toml:1',
    ],
  ],
] as const) {
  test(`config.toml: ${name}`, () => {
    assert.deepEqual(refusal(text), lines)
  })
}

for (const [url, normal] of [
  ['https://api.example/v1/', 'https://api.example/v1'],
  ['https://api.example/v1/chat/completions', 'https://api.example/v1'],
  ['https://api.example/v1/chat/completions/', 'https://api.example/v1'],
  ['https://api.example/v1//messages', 'https://api.example/v1'],
  ['https://api.example', 'https://api.example'],
  ['https://messages', 'https://messages'],
] as const) {
  test(`normalizeBaseUrl() converts ${url} to ${normal}`, () => {
    assert.equal(normalizeBaseUrl(url), normal)
  })
}

test('a written configuration is read back unchanged', () => {
  const text = fc.string({ minLength: 1, unit: 'binary' }).map((raw) => raw.toWellFormed())
  const url = fc.webUrl({ validSchemes: ['http', 'https'] })
  const model = fc.oneof(
    text,
    fc.record({
      name: text,
      context: fc.integer({ min: 1 }),
      input_usd: fc.double({ min: 0, noNaN: true, max: 1e9 }),
    }),
  )
  const provider = fc.record(
    {
      kind: fc.constantFrom(...PROVIDER_KINDS),
      base_url: url,
      api_key: fc.stringMatching(/^[!-~é]+$/),
      models: fc.array(model, { minLength: 1, maxLength: 3 }),
      timeout_ms: fc.integer({ min: 1 }),
      max_retries: fc.nat(100),
    },
    { requiredKeys: ['kind', 'base_url', 'models'] },
  )
  const env = fc.dictionary(fc.stringMatching(/^[A-Z_é]{1,5}$/), fc.string())
  const file = fc.record({ providers: fc.array(provider, { maxLength: 3 }), env, model: text })
  fc.assert(
    fc.property(file, (raw) => {
      const providers = raw.providers.map((one, i) => ({
        ...one,
        name: `p${i}`,
        models: one.models.map((entry, j) => numbered(entry, `${i}.${j}.`)),
      }))
      const config = read(renderToml({ ...raw, providers }))
      assert.equal(config.defaultModel, raw.model)
      assert.deepEqual(config.env, { ...raw.env })
      assert.deepEqual(
        config.providers.map(({ where: _, ...rest }) => rest),
        providers.map(expected),
      )
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

/** Makes model names unique across providers. */
function numbered(entry: ModelText, prefix: string): ModelText {
  return typeof entry === 'string' ? prefix + entry : { ...entry, name: prefix + entry.name }
}

/** Returns the provider that a table describes. */
function expected(table: ProviderText): Omit<ProviderConfig, 'where'> {
  return {
    name: table.name,
    kind: table.kind,
    apiKey: table.api_key,
    baseUrl: normalizeBaseUrl(table.base_url),
    models: table.models.map((entry) =>
      typeof entry === 'string'
        ? { name: entry }
        : { name: entry.name, context: entry.context, inputUsd: entry.input_usd },
    ),
    timeoutMs: table.timeout_ms ?? 30_000,
    maxRetries: table.max_retries,
  }
}
