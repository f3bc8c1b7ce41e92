import assert from 'node:assert/strict'
import { chmod, readFile, stat, symlink } from 'node:fs/promises'
import { test } from 'node:test'
import { describeServer, summarizeServer } from '../../../src/edge/entries/describe-server.ts'
import { editServers } from '../../../src/edge/entries/edit-servers.ts'
import { expandEntry } from '../../../src/edge/entries/expand.ts'
import { parseJsonServers } from '../../../src/edge/entries/parse-json-servers.ts'
import { parseTomlServers } from '../../../src/edge/entries/parse-toml-servers.ts'
import { resolveServer } from '../../../src/edge/entries/session-servers.ts'
import { makeTree } from '../../support/trees.ts'

const variable = (text: string) => `\${${text}}`

test('expandEntry() replaces variables and defaults in the keys that have values, and names those that are unset', async () => {
  const values = new Map([
    ['TOKEN', 'abc'],
    ['CLAUDE_PROJECT_DIR', '/wrong'],
  ])
  const resolver = {
    async find(name: string) {
      const value = values.get(name)
      return value === undefined ? undefined : { name, value, source: { kind: 'environment' } as const }
    },
  }
  const table = {
    command: `${variable('CLAUDE_PROJECT_DIR')}/run`,
    args: [variable('TOKEN'), `--port=${variable('PORT:-80')}`, '$TOKEN', variable('input:x')],
    env: { A: `${variable('TOKEN')}-${variable('TOKEN:-no')}`, B: variable('CRABTALK_PROJECT_DIR') },
    include: [variable('TOKEN')],
  }
  assert.deepEqual(await expandEntry(table, resolver, '/p'), {
    ok: true,
    entry: {
      command: '/p/run',
      args: ['abc', '--port=80', '$TOKEN', variable('input:x')],
      env: { A: 'abc-abc', B: '/p' },
      include: [variable('TOKEN')],
    },
  })
  const unset = {
    url: `https://${variable('HOST')}/${variable('PATH_OF')}`,
    headers: { A: variable('HOST') },
  }
  assert.deepEqual(await expandEntry(unset, resolver, '/p'), { ok: false, missing: ['HOST', 'PATH_OF'] })
})

test('parseTomlServers() loses only the server with a mistake', () => {
  const { servers, problems } = parseTomlServers(
    '[server.a]\ncommand = "a"\noauth = "manual"\n[server]\nb = 1\n[server.c]\noauth = "x"\n[servers.d]\n',
    '/f',
    'user',
  )
  assert.deepEqual(
    servers.map(({ name, oauth, problem }) => [name, oauth, problem]),
    [
      ['a', 'manual', ''],
      ['b', 'auto', 'it must be a table'],
      ['c', 'auto', '"oauth" must be one of off, auto, manual'],
    ],
  )
  assert.deepEqual(problems, [
    { file: '/f', message: '/f:8: unknown key "servers"', hint: 'did you mean "server"?' },
  ])
  assert.match(parseTomlServers('[server', '/f', 'user').problems[0]!.message, /^\/f:1:\d+: not valid TOML/)
})

test('parseJsonServers() takes the format of Claude Code, and says which keys it drops', () => {
  const { servers } = parseJsonServers(
    JSON.stringify({
      mcpServers: {
        'GitHub Issues': {
          type: 'http',
          url: 'https://x',
          headers: { A: 'b' },
          timeout: 5,
          alwaysLoad: true,
        },
        odd: { type: 'ws', url: 'https://x' },
      },
    }),
    '/r/.mcp.json',
  )
  assert.deepEqual(
    servers.map(({ name, table, problem, notes }) => ({ name, table, problem, notes })),
    [
      {
        name: 'github-issues',
        table: { transport: 'http', url: 'https://x', headers: { A: 'b' }, timeout_ms: 5 },
        problem: '',
        notes: ['crabtalk does not use "alwaysLoad"'],
      },
      { name: 'odd', table: { url: 'https://x' }, problem: '"type" must be stdio, http or sse', notes: [] },
    ],
  )
  assert.match(parseJsonServers('[]', '/f').problems[0]!.message, /it is not a JSON object/)
  const [numbers] = parseJsonServers(
    '{"mcpServers":{"a":{"command":"a","args":["-p",8080,true],"env":{"PORT":1}}}}',
    '/f',
  ).servers
  assert.deepEqual(numbers!.table, { command: 'a', args: ['-p', '8080', 'true'], env: { PORT: '1' } })
})

test('parseJsonServers() says where a text is not JSON, without quoting it', () => {
  const rows: [text: string, place: string][] = [
    ['{"mcpServers": {,,}}', '1:17'],
    ['{\n  "a": ["s3cr3t", s3cr3t]\n}', '2:19'],
    ['{\n  "a": [1,]\n}', '2:11'],
    ['{\n  "a":\n\n', '2:7'],
    ['\uFEFF[tru]', '1:5'],
  ]
  for (const [text, place] of rows) {
    assert.equal(parseJsonServers(text, '/f').problems[0]!.message, `/f:${place}: it is not valid JSON`, text)
  }
})

test('resolveServer() gives an entry the time limits of the environment below its own', async () => {
  const resolver = { find: async () => undefined }
  const limits = async (keys: string, env: Record<string, string>) => {
    const { servers } = parseTomlServers(`[server.a]\ncommand = "a"\n${keys}`, '/f', 'user')
    const { entry } = await resolveServer(servers[0]!, { resolver, projectDir: '/p', env })
    return [entry?.startup_timeout_ms, entry?.timeout_ms]
  }
  const env = { MCP_TIMEOUT: '30000', MCP_TOOL_TIMEOUT: '90000' }
  assert.deepEqual(await limits('', env), [30_000, 90_000])
  assert.deepEqual(await limits('timeout_ms = 5\n', env), [30_000, 5])
  assert.deepEqual(await limits('startup_timeout_ms = 7\n', env), [7, 90_000])
  assert.deepEqual(await limits('', { MCP_TIMEOUT: 'soon', MCP_TOOL_TIMEOUT: '0' }), [undefined, undefined])
})

test('describeServer() shows every value, and no trick hides one; summarizeServer() has no secret', () => {
  const server = {
    name: 'a\nb',
    problem: '',
    table: {
      command: 'sh',
      args: ['-c', 'x\u202e\n  runs harmless', '--token=s3cr3t-s3cr3t'],
      env: { API_TOKEN: 'rm -rf', LOG: '1' },
      permissions: { allow: ['*'] },
      auth_helper: ['get', '--password=s3cr3t-s3cr3t'],
    },
  }
  assert.deepEqual(describeServer(server), [
    'a\\nb',
    "  runs sh -c 'x\\u202e\\n  runs harmless' '--token=s3cr3t-s3cr3t'",
    '  with API_TOKEN=rm -rf',
    '  with LOG=1',
    '  permissions = { allow = ["*"] }',
    '  auth_helper = ["get", "--password=s3cr3t-s3cr3t"]',
    '  runs the tool * without asking you',
  ])
  const summary = summarizeServer({ ...server, table: { ...server.table, auth: 's3cr3t-s3cr3t' } })
  assert.doesNotMatch(summary, /s3cr3t|rm -rf/)
  assert.match(summary, /^a\\nb: sh -c .*API_TOKEN=\[secret\]/)
  const toml = '[server.r]\nurl = "https://r"\ndisabled = true\noauth = "manual"\n'
  const config = '[server.r.oauth_config]\nissuer = "https://i"\nclient_secret = "s3cr3t-s3cr3t"\n'
  const [remote] = parseTomlServers(toml + config, '/f', 'project').servers
  assert.deepEqual(describeServer(remote!), [
    'r',
    '  turned off here, and not started',
    '  connects to https://r',
    '  oauth = "manual"',
    '  oauth_config.issuer = "https://i"',
    '  oauth_config.client_secret = "s3cr3t-s3cr3t"',
  ])
  assert.match(
    summarizeServer(remote!),
    /oauth = "manual", oauth_config.issuer = "https:\/\/i", oauth_config.client_secret = "\[secret\]"$/,
  )
})

test('editServers() keeps comments and order', async () => {
  const before = `# mine\n\n# first\n[server.a] # end\ncommand = "x" # why\n\n[server.a.env]\nK = "v"\n\n# second\n[server.b]\nurl = "https://b"\n`
  await using tree = await makeTree({ 'mcp.toml': before })
  const path = tree.path('mcp.toml')
  await editServers(path, (servers) => ({ ...servers, c: { command: 'c', env: { A: 'b' } } }))
  assert.equal(
    await readFile(tree.path('mcp.toml'), 'utf8'),
    `${before}\n[server.c]\ncommand = "c"\nenv = { A = "b" }\n`,
  )
  await editServers(path, ({ a, c }) => ({ a: { ...a, command: 'y', timeout_ms: 5 }, c: c! }))
  assert.equal(
    await readFile(tree.path('mcp.toml'), 'utf8'),
    '# mine\n\n# first\n[server.a] # end\ncommand = "y" # why\ntimeout_ms = 5\n\n[server.a.env]\nK = "v"\n\n[server.c]\ncommand = "c"\nenv = { A = "b" }\n',
  )
  await assert.rejects(
    editServers(tree.path('mcp.toml'), () => {
      throw new Error('no')
    }),
    /no/,
  )
  await chmod(path, 0o664)
  await editServers(path, ({ c }) => ({ c: c! }))
  assert.equal((await stat(path)).mode & 0o777, 0o664)
  const created = await editServers(tree.path('new/mcp.toml'), () => ({ z: { command: 'z' } }))
  assert.equal(created.before, undefined)
  assert.equal(await readFile(tree.path('new/mcp.toml'), 'utf8'), '[server.z]\ncommand = "z"\n')
})

test('editServers() changes no file that a project links to elsewhere', async () => {
  await using tree = await makeTree({ 'mine.toml': '# mine\n', 'project/.crabtalk/x': '' })
  const owner = { uid: process.getuid?.() ?? 0, linkRoot: tree.path('project') }
  const path = tree.path('project/.crabtalk/mcp.toml')
  await symlink(tree.path('mine.toml'), path)
  await assert.rejects(
    editServers(path, () => ({ a: { command: 'a' } }), owner),
    { kind: 'denied', message: /a link that points outside its folder$/ },
  )
  assert.equal(await readFile(tree.path('mine.toml'), 'utf8'), '# mine\n')
})
