import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../src/commands/main.ts'
import { makeTestHost } from '../support/test-host.ts'

const CONFIG = `model = "m"

[[providers]]
name = "mine"
kind = "openai-compatible"
base_url = "http://ann:hush@localhost:4000/v1"
api_key = "hush"
models = ["m", { name = "n", context = 4096 }]

[env]
TOKEN = "hush"
`

test('config show hides secrets, and prints a valid config.toml', async () => {
  const shown = await show(CONFIG)
  assert.doesNotMatch(shown, /hush/)
  assert.match(shown, /base_url = "http:\/\/\[secret\]@localhost:4000\/v1"\napi_key = "\[secret\]"/)
  assert.equal(await show(shown), shown)
})

test('config show works without a config.toml', async () => {
  assert.match(await show(''), /^providers = \[\]$/m)
})

test('config show --json says where each provider is written, and hides the same', async () => {
  const { model, providers, env } = JSON.parse(await show(CONFIG, '--json'))
  assert.deepEqual(
    [model, providers[0].where, providers[0].models[1]],
    ['m', 'config.toml:3', { name: 'n', context: 4096 }],
  )
  assert.deepEqual(env, { TOKEN: '[secret]' })
  assert.doesNotMatch(JSON.stringify(providers), /hush/)
})

test('config check reports problems with place and hint, or a valid configuration', async () => {
  assert.deepEqual(await run('', 'check'), { code: 0, text: 'no problems\n' })
  const { code, text } = await run('[deamon]\n', 'check')
  assert.equal(code, 78)
  assert.equal(text, 'config.toml:1: unknown key "deamon"\n  hint: did you mean "daemon"?\n')
})

test('config check reads mcp.toml of the user and of the directory, trusted or not', async () => {
  await using at = await makeTestHost({ env: { CRABTALK_HOME: 'home' } })
  const user = join(at.folder, '.config/crabtalk/mcp.toml')
  await mkdir(join(user, '..'), { recursive: true })
  await mkdir(join(at.folder, '.crabtalk'))
  await writeFile(
    user,
    `[server.a]\ncommand = "a"\ntimeout_ms = "$T"\n[server.b]\nurl = "${variable('B')}"\n[server.a-b]\ncommand = "x"\nbogus = 1\n`,
  )
  const own = `[server.a-b]\ncommand = "${variable('X')}"\n[server.a_b]\ncommand = "y"\n`
  await writeFile(join(at.folder, '.crabtalk/mcp.toml'), own)
  await writeFile(join(at.folder, '.mcp.json'), '{"mcpServers": {,,}}')
  assert.equal(await main('crabtalk', ['config', 'check'], at.host), 78)
  await at.host.stdout.flush()
  const lines = at
    .stdout()
    .replaceAll(at.folder, '')
    .split('\n')
    .filter((line) => !line.startsWith('  '))
  assert.deepEqual(lines, [
    '/.config/crabtalk/mcp.toml:3: the server "a": "timeout_ms" must be a number, not a string',
    '/.config/crabtalk/mcp.toml:8: the server "a-b": unknown key "bogus"',
    '/.mcp.json:1:17: it is not valid JSON',
    '/.crabtalk/mcp.toml:3: the server "a_b": its tools have the names of "a-b"',
    '',
  ])
})

/** Writes a placeholder as a file has it. */
const variable = (name: string) => `\${${name}}`

test('config check finds servers that can never be started', async () => {
  const agents = `[[mcps]]
name = "docs"
url = "https://docs.example.com/mcp"
auth = "token"
headers = { Authorization = "Bearer x" }
`
  await using at = await makeTestHost({ env: { CRABTALK_HOME: 'home' } })
  await mkdir(join(at.folder, 'home/agents'), { recursive: true })
  await writeFile(join(at.folder, 'home/agents/crab.toml'), agents)
  assert.equal(await main('crabtalk', ['config', 'check'], at.host), 78)
  assert.match(
    at.stdout(),
    /^agents\/crab\.toml:1: the server "docs" cannot be used: the header "Authorization" and "auth" clash/,
  )
})

test('config check warns about rules that match nothing', async () => {
  const { code, text } = await run('[permissions]\ndeny = ["bsh"]\n', 'check')
  assert.equal(code, 0)
  assert.equal(
    text,
    'no problems, 1 warning\nwarning: config.toml:2: this deny rule denies nothing: bsh: no tool has that name\n' +
      '  hint: did you mean "bash"?\n',
  )
})

test('config check --json includes warnings as entries, and prints nothing on standard error', async () => {
  const { code, text } = await run('[permissions]\nallow = ["bash(sh)"]\ndeny = ["bsh"]\n', 'check', '--json')
  const entries: { severity: string; file: string; line: number; message: string }[] = JSON.parse(text)
  assert.equal(code, 0)
  assert.deepEqual(
    entries.map(({ severity, file, line }) => `${severity} ${file}:${line}`),
    ['warning config.toml:2', 'warning config.toml:3'],
  )
  const wrong = await run('[deamon]\n', 'check', '--json')
  assert.equal(wrong.code, 78)
  assert.equal(JSON.parse(wrong.text)[0].severity, 'error')
})

test('config check suggests the right rule for a tool that takes nothing in parentheses', async () => {
  const { code, text } = await run('[permissions]\ndeny = ["bsh(rm *)"]\n', 'check')
  assert.equal(code, 78)
  assert.match(
    text,
    /"permissions\.deny\[0\]" \(bsh\) takes nothing in parentheses.*\n {2}hint: for example bash\(rm \*\)\n/,
  )
})

async function show(config: string, ...options: string[]): Promise<string> {
  const { code, text } = await run(config, 'show', ...options)
  assert.equal(code, 0, text)
  return text
}

/** Runs a `config` command in a home with that config.toml; an empty text writes no file. */
async function run(config: string, ...words: string[]): Promise<{ code: number; text: string }> {
  await using at = await makeTestHost({ env: { CRABTALK_HOME: 'home' } })
  await mkdir(join(at.folder, 'home'))
  if (config !== '') await writeFile(join(at.folder, 'home', 'config.toml'), config)
  const code = await main('crabtalk', ['config', ...words], at.host)
  return { code, text: at.stdout() + at.stderr() }
}
