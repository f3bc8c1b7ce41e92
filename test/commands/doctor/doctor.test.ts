import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../../src/commands/main.ts'
import { startModelServer } from '../../support/model-server.ts'
import { makeTestHost, type TestHostOptions } from '../../support/test-host.ts'

interface Line {
  area: string
  status: string
  message: string
  hint: string | null
}

/** The JSON report. */
interface Report {
  v: number
  ok: boolean
  version: string
  checks: Line[]
}

test('doctor finds no problem in a home that does not exist, and creates nothing', async () => {
  await using home = await makeHome({})
  const { report, code } = await home.examine()
  assert.deepEqual([report.v, report.ok, code], [1, true, 0])
  assert.deepEqual([...new Set(report.checks.map(({ area }) => area))], AREAS)
  assert.match(only(report, 'home', 'note').message, /does not exist yet; the first turn creates it$/)
  assert.match(only(report, 'model', 'warning').message, /the built-in demo answers/)
  assert.equal((await home.run(['agent', 'show'])).code, 0)
})

test('doctor says what keeps schedules from firing', async () => {
  for (const [text, found] of [
    [
      '[[cron]]\nid = 1\nschedule = "* * *"\ncontent = "x"\n',
      /^config\/crons\.toml:3: "schedule" is invalid/,
    ],
    ['[[cron]]\nid\n', /^config\/crons\.toml:2:\d+: not valid TOML/],
  ] as const) {
    await using home = await makeHome({ 'config/crons.toml': text })
    const { report, code } = await home.examine()
    assert.equal(code, 1)
    assert.match(only(report, 'configuration', 'problem').message, found)
  }
})

test('doctor reports the line of a mistake in trust.toml', async () => {
  await using home = await makeHome({
    'trust.toml': '[[project]]\npath = "/a"\nstate = "maybe"\nsince = ""\n',
  })
  const { report, code } = await home.examine()
  assert.equal(code, 1)
  assert.match(
    only(report, 'configuration', 'problem').message,
    /^trust\.toml:3: "project\[0\]\.state" must be one of/,
  )
})

test('doctor queries the server of the model without a model call', async () => {
  await using server = await startModelServer([], { models: ['scripted', 'other'] })
  await using home = await makeHome({ 'config.toml': llm(server.url, 'scripted') })
  const { report, code } = await home.examine()
  assert.equal(code, 0)
  const [chosen, answered] = of(report, 'model')
  assert.match(chosen!.message, /^scripted from provider llm \(config\.toml:1\), set in config\.toml$/)
  assert.match(answered!.message, /^llm answered in \d+ ms and lists scripted \(2 models\)$/)
  assert.deepEqual([server.requests.length, server.questions.length], [0, 1])
})

test('doctor warns of a model that its server does not list', async () => {
  await using server = await startModelServer([], { models: ['other'] })
  await using home = await makeHome({ 'config.toml': llm(server.url, 'scripted') })
  const { report, code } = await home.examine()
  assert.equal(code, 0)
  assert.match(only(report, 'model', 'warning').message, /does not list scripted \(1 model\)$/)
})

test('doctor exits 1 for an unreachable server, and for an unknown model', async () => {
  await using home = await makeHome({
    'config.toml': llm('http://127.0.0.1:9/v1', 'scripted'),
    'agents/a.toml': 'model = "nobody/x"\n',
  })
  const { report, code } = await home.examine()
  assert.deepEqual([report.ok, code], [false, 1])
  assert.match(only(report, 'model', 'problem').message, /^llm cannot be used: Cannot reach/)
})

/** Invalid providers, variables, and the expected problems of the default model and of an agent's. */
const UNUSABLE: [string, Record<string, string>, RegExp][] = [
  ['kind = "azure"', { AZURE_API_KEY: 'k' }, /base_url is missing$/],
  ['kind = "bedrock"', {}, /no key is set$/],
  ['kind = "bedrock"\nprofile = "none"', {}, /~\/\.aws does not have that profile$/],
  ['kind = "bedrock"\nprofile = "sso"', {}, /it has no keys, but sso_start_url$/],
  ['kind = "anthropic"', {}, /no key is set$/],
]

for (const [provider, env, expected] of UNUSABLE) {
  test(`doctor reports why a model call would fail: ${provider.replaceAll('\n', ', ')}`, async () => {
    await using person = await makeTestHost()
    await mkdir(join(person.folder, '.aws'))
    await writeFile(join(person.folder, '.aws/config'), '[profile sso]\nsso_start_url = https://x.test\n')
    await using home = await makeHome(
      {
        'config.toml': `model = "m"\n[[providers]]\nname = "cloud"\n${provider}\n`,
        'agents/a.toml': 'model = "other"\n',
      },
      { env: { HOME: person.folder, ...env } },
    )
    const { report, code } = await home.examine()
    assert.equal(code, 1)
    const [chosen, ...problems] = of(report, 'model')
    assert.match(chosen!.message, /^m from provider cloud \(config\.toml:2\)/)
    assert.deepEqual(
      problems.map(({ status, message }) => `${status} ${message.split(': ')[0]}`),
      ['problem cloud cannot be used', 'problem a cannot use other'],
    )
    for (const { message } of problems) assert.match(message, expected)
  })
}

test('doctor does not check models while config.toml is invalid', async () => {
  await using home = await makeHome({ 'config.toml': 'modle = "x"\n', 'agents/a.toml': 'model = "m"\n' })
  const { report } = await home.examine()
  assert.deepEqual(
    of(report, 'model').map(({ status, message }) => `${status} ${message}`),
    ['note not checked: config.toml has errors'],
  )
})

test('doctor does not wait for a server that never answers', async () => {
  await using server = await startMuteServer()
  await using home = await makeHome({ 'config.toml': llm(server.url, 'scripted') })
  const { report } = await home.examine()
  assert.match(only(report, 'model', 'problem').message, /did not answer within 3 s$/)
})

test('doctor names the server that did not list its models in time', async () => {
  await using server = await startMuteServer()
  await using home = await makeHome({ 'config.toml': `[llm]\nbase_url = "${server.url}"\n` })
  const { report } = await home.examine()
  const { message, hint } = only(report, 'model', 'problem')
  assert.equal(message, 'no model can be chosen: llm (config.toml:1) did not list its models within 3 s')
  assert.match(hint!, /^check the network and base_url, or name a model/)
})

test('doctor reports mistakes in files with their line', async () => {
  await using home = await makeHome({ 'config.toml': '\nmodle = "x"\n', 'agents/a.toml': 'thinking = 1\n' })
  const { report, code } = await home.examine()
  assert.equal(code, 1)
  const problems = of(report, 'configuration').map(({ message, hint }) => [message, hint])
  assert.deepEqual(problems, [
    ['config.toml:2: unknown key "modle"', 'did you mean "model"?'],
    ['agents/a.toml:1: "thinking" must be true or false, not a number', null],
  ])
})

test('doctor reports secrets that others can read, and never prints one', async () => {
  await using server = await startModelServer([])
  const key = 'sk-very-secret'
  await using home = await makeHome({
    'config.toml': `${llm(server.url, 'scripted')}api_key = "${key}"\n`,
    'agents/a.toml': `[[mcps]]\nname = "s"\ncommand = "true"\nenv = { TOKEN = "${key}" }\n`,
    'run/leases.db': '',
  })
  await chmod(join(home.path, 'run'), 0o755)
  await chmod(join(home.path, 'agents/a.toml'), 0o644)
  const first = await home.examine()
  assert.equal(first.code, 1)
  const open = of(first.report, 'home').filter(({ status }) => status === 'problem')
  assert.deepEqual(
    open.map(({ message }) => message.slice(home.path.length)),
    [
      '/run: others can enter it',
      '/config.toml: others can read the secrets in it',
      '/agents/a.toml: others can read the secrets in it',
    ],
  )
  assert.ok(!JSON.stringify(first.report).includes(key))
  for (const { hint } of open) {
    const [, mode = '', path = ''] = /^chmod (\d+) (.*)$/.exec(hint ?? '') ?? []
    await chmod(path, Number.parseInt(mode, 8))
  }
  assert.equal((await home.examine()).code, 0)
})

test('doctor treats files in a private home as private, whatever their mode', async () => {
  await using server = await startModelServer([])
  await using home = await makeHome({ 'config.toml': `${llm(server.url, 'scripted')}api_key = "sk-1"\n` })
  await chmod(join(home.path, 'config.toml'), 0o644)
  await chmod(home.path, 0o700)
  const { code, report } = await home.examine()
  assert.equal(code, 0)
  const messages = of(report, 'home').map(({ message }) => message)
  assert.ok(messages.includes('only you can open the home, and so its secrets'), messages.join('\n'))
})

/** Files, and which of them must be private. */
const SECRETS: [string, Record<string, string>, string[]][] = [
  ['variables of all servers', { 'config.toml': '[env]\nTOKEN = "s"\n' }, ['config.toml: has']],
  ['a config.toml that is wrong', { 'config.toml': 'modle = "s"\n' }, ['config.toml: may have']],
  ['a config.toml that is no TOML', { 'config.toml': 'api_key = "s\n' }, ['config.toml: may have']],
  [
    'a password within an address',
    { 'config.toml': '[llm]\nbase_url = "http://me:s@127.0.0.1:9/v1"\n' },
    ['config.toml: has'],
  ],
  [
    'agent files',
    {
      'config.toml': 'model = "demo"\n',
      'agents/a.toml': 'nonsense',
      'agents/b.toml': 'thinking = 1\n',
      'agents/c.toml': '[[mcps]]\nname = "s"\nurl = "https://me:s@x.test"\n',
      'agents/d.toml': '[[mcps]]\nname = "s"\nurl = "https://x.test"\nauth = "s"\n',
      'agents/e.toml': 'description = "nothing to hide"\n',
    },
    ['agents/c.toml: has', 'agents/d.toml: has', 'agents/a.toml: may have', 'agents/b.toml: may have'],
  ],
]

for (const [what, files, expected] of SECRETS) {
  test(`doctor reports what others can read: ${what}`, async () => {
    await using home = await makeHome(files)
    const open = of((await home.examine()).report, 'home').filter(({ message }) => /others/.test(message))
    assert.deepEqual(
      open.map(({ status, message }) =>
        `${status} ${message.slice(home.path.length + 1)}`
          .replace(/^problem (.*) others can read the secrets in it/, '$1 has')
          .replace(/^warning (.*) others can read it, and it may hold secrets/, '$1 may have'),
      ),
      expected,
    )
    for (const file of Object.keys(files)) await chmod(join(home.path, file), 0o600)
    const { report } = await home.examine()
    assert.ok(of(report, 'home').some(({ message }) => message === 'only you can read the secrets'))
  })
}

test("doctor does not touch another program's home and says so", async () => {
  await using home = await makeHome({ 'local/settings.toml': '' })
  const { report, code } = await home.examine()
  assert.equal(code, 1)
  assert.match(
    only(report, 'home', 'problem').message,
    /belongs to the Rust crabtalk \(local\/settings\.toml\)$/,
  )
})

test('doctor counts rules by source, and warns of very broad ones', async () => {
  await using home = await makeHome({
    'config.toml': '[permissions]\nallow = ["bash", "bash(git *)"]\ndeny = ["read(/etc/**)"]\n',
    'agents/a.toml': '[permissions]\nallow = ["*", "edit(/**)", "edit"]\n',
  })
  const { report, code } = await home.examine()
  assert.equal(code, 0)
  const findings = of(report, 'permissions').slice(1)
  assert.deepEqual(
    findings.map(({ status, message }) => `${status} ${message}`),
    [
      'ok config.toml: 3 rules, 2 allow, 1 deny',
      'ok agents/a.toml: 3 rules, 3 allow',
      'warning config.toml:2: allow bash permits any command without asking',
      'warning config.toml:2: allow bash(git *) permits any command (by aliases, hooks and -c) without asking',
      'warning agents/a.toml:2: allow * permits everything without asking',
      'warning agents/a.toml:2: allow edit(/**) permits changes far outside the working directory without asking',
    ],
  )
})

test('doctor looks for the programs of MCP servers without starting them', async () => {
  await using home = await makeHome({
    'agents/a.toml': [
      '[[mcps]]\nname = "there"\ncommand = "sh"\nargs = ["-c", "touch started"]\ncwd = "/"',
      '[[mcps]]\nname = "gone"\ncommand = "no-such-program"',
      '[[mcps]]\nname = "off"\ncommand = "no-such-program"\ndisabled = true\n',
    ].join('\n'),
  })
  const { report, code } = await home.examine()
  assert.equal(code, 1)
  const [there, gone, off] = of(report, 'mcp servers')
  assert.match(`${there?.status} ${there?.message}`, /^ok there of a: \/.*sh$/)
  assert.match(`${gone?.status} ${gone?.message}`, /^problem gone of a: Cannot start no-such-program/)
  assert.equal(`${off?.status} ${off?.message}`, 'note off of a is disabled')
})

/** Variables, and the expected description of the terminal. */
const TERMINALS: [Record<string, string>, RegExp[]][] = [
  [
    { TERM: 'xterm-256color', LANG: 'de_DE.UTF-8' },
    [/^ok xterm-256color, 80 columns, bracketed/, /^ok 256/, /^ok UTF-8/],
  ],
  [
    { TERM: 'dumb', LC_ALL: 'C', LANG: 'C.UTF-8' },
    [/^note TERM is dumb/, /^note no colors$/, /^warning .*LC_ALL=C$/],
  ],
  [
    { TERM: 'xterm', NO_COLOR: '1', LANG: 'C.utf8', TMUX: '/tmp/x' },
    [/^ok xterm/, /NO_COLOR/, /^ok/, /tmux/],
  ],
  [{}, [/^warning TERM is not set/, /./, /^warning .*no locale/]],
]

for (const [env, expected] of TERMINALS) {
  test(`doctor describes a terminal with ${JSON.stringify(env)}`, async () => {
    await using home = await makeHome({}, { env, terminals: ['stdout', 'stderr'] })
    const findings = of((await home.examine()).report, 'terminal')
    assert.equal(findings.length, expected.length)
    for (const [i, { status, message }] of findings.entries())
      assert.match(`${status} ${message}`, expected[i]!)
  })
}

test("doctor looks for completions where the user's shell loads them", async () => {
  await using person = await makeTestHost()
  const env = { SHELL: '/bin/zsh' }
  await using home = await makeHome({}, { env, homeDir: person.folder })
  const { message } = only((await home.examine()).report, 'completions', 'note')
  assert.equal(message, 'zsh does not complete crabtalk yet')
  await writeFile(join(person.folder, '.zshrc'), 'source <(crabtalk completions zsh)\n')
  const found = only((await home.examine()).report, 'completions', 'ok')
  assert.equal(found.message, `zsh completes crabtalk (${join(person.folder, '.zshrc')})`)
})

test('doctor prints one line per finding, with the hint below it', async () => {
  await using home = await makeHome({ 'config.toml': 'modle = "x"\n' })
  const { stdout, code } = await home.run(['doctor'])
  assert.equal(code, 1)
  assert.match(
    stdout,
    /^configuration\n {2}problem {2}config\.toml:1: unknown key "modle"\n {11}hint: did you mean "model"\?$/m,
  )
  assert.match(stdout, /\n1 problem, 1 warning\n$/)
})

const AREAS = [
  'program',
  'home',
  'configuration',
  'model',
  'permissions',
  'mcp servers',
  'terminal',
  'completions',
]

function llm(url: string, model: string): string {
  return `[llm]\nbase_url = "${url}"\nmodel = "${model}"\n`
}

function of(report: Report, area: string): Line[] {
  return report.checks.filter((line) => line.area === area)
}

function only(report: Report, area: string, status: string): Line {
  const found = of(report, area).filter((line) => line.status === status)
  assert.equal(found.length, 1, JSON.stringify(of(report, area)))
  return found[0]!
}

/** Starts a server that accepts requests and never answers. */
async function startMuteServer() {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await server[Symbol.asyncDispose]()
    },
  }
}

async function makeHome(files: Record<string, string>, options: TestHostOptions = {}) {
  const box = await makeTestHost()
  const path = join(box.folder, 'home')
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(path, name, '..'), { recursive: true })
    await writeFile(join(path, name), text)
  }
  const run = async (argv: readonly string[]) => {
    const env = { PATH: process.env['PATH'], CRABTALK_HOME: path, ...options.env }
    await using host = await makeTestHost({ ...options, env })
    const code = await main('crabtalk', argv, host.host)
    return { code, stdout: host.stdout() }
  }
  return {
    path,
    run,
    async examine() {
      const { code, stdout } = await run(['doctor', '--json'])
      return { code, report: JSON.parse(stdout) as Report }
    },
    [Symbol.asyncDispose]: () => box[Symbol.asyncDispose](),
  }
}
