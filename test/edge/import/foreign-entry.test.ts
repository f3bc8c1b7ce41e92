import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { mcpEntry } from '../../../src/core/config/mcp-entry.ts'
import { checkValue } from '../../../src/core/config/schema.ts'
import { readForeignEntries, toServerName } from '../../../src/edge/import/foreign-entry.ts'

const NPX = { command: 'npx', args: ['-y', 'x'] }

/** Texts of other programs and pages, and the entries that they mean, by name. */
const TEXTS: [what: string, text: string, entries: Record<string, JsonObject>][] = [
  ['Claude Code and Cursor', '{"mcpServers":{"one":{"command":"npx","args":["-y","x"]}}}', { one: NPX }],
  ['a fragment without braces', '"one": {"command": "npx", "args": ["-y", "x"]},', { one: NPX }],
  ['a code fence', '```json\n{"one": {"command": "npx", "args": ["-y", "x"]}}\n```', { one: NPX }],
  [
    'VS Code with comments, trailing commas and inputs',
    `// my servers
{
  "inputs": [{"type": "promptString", "id": "gh-token", "description": "GitHub token", "password": true,}],
  "servers": {
    /* not // a comment */
    "GitHub": {"type": "stdio", "command": "npx", "args": ["-y", "http://x/*no*/",], "env": {"GITHUB_TOKEN": "\${input:gh-token}"}},
    "web": {"type": "http", "url": "https://h/mcp", "headers": {"Authorization": "Bearer \${input:gh-token}"},},
  },
}`,
    {
      github: { command: 'npx', args: ['-y', 'http://x/*no*/'], env: { GITHUB_TOKEN: `\${GITHUB_TOKEN}` } },
      web: { url: 'https://h/mcp', transport: 'http', headers: { Authorization: `Bearer \${GH_TOKEN}` } },
    },
  ],
  [
    'settings of VS Code',
    '{"mcp": {"servers": {"one": {"command": "npx", "args": ["-y", "x"]}}}}',
    { one: NPX },
  ],
  ['a dotted key', '{"mcp.servers": {"one": {"command": "npx", "args": ["-y", "x"]}}}', { one: NPX }],
  [
    'Cline',
    '{"mcpServers":{"aws":{"command":"uvx","args":["x@1"],"disabled":false,"autoApprove":[],"timeout":60,"env":{"PORT":3000,"FASTMCP":true}}}}',
    { aws: { command: 'uvx', args: ['x@1'], env: { PORT: '3000', FASTMCP: 'true' }, timeout_ms: 60_000 } },
  ],
  [
    'Gemini',
    '{"mcpServers":{"g":{"httpUrl":"https://h/mcp","timeout":30000,"trust":true,"includeTools":["a"],"excludeTools":["b"],"headers":{"X-Key":"$API_KEY"}}}}',
    {
      g: {
        url: 'https://h/mcp',
        transport: 'http',
        timeout_ms: 30_000,
        include: ['a'],
        exclude: ['b'],
        headers: { 'X-Key': `\${API_KEY}` },
      },
    },
  ],
  [
    'Windsurf',
    '{"mcpServers":{"w":{"serverUrl":"https://h/mcp","disabledTools":["b"]}}}',
    { w: { url: 'https://h/mcp', exclude: ['b'] } },
  ],
  [
    'opencode',
    '{"$schema":"s","mcp":{"l":{"type":"local","command":["npx","-y","x"],"environment":{"K":"{env:K2}"},"enabled":false,"timeout":5000},"r":{"type":"remote","url":"https://h","enabled":true}}}',
    {
      l: { ...NPX, env: { K: `\${K2}` }, disabled: true, startup_timeout_ms: 5000 },
      r: { url: 'https://h' },
    },
  ],
  [
    'Zed',
    '{"theme":"x","context_servers":{"z":{"source":"custom","command":"npx","args":["-y","x"],"env":{}},"old":{"command":{"path":"npx","args":["-y","x"]},"settings":{}}}}',
    { z: NPX, old: NPX },
  ],
  [
    'Copilot',
    '{"mcpServers":{"c":{"type":"local","command":"npx","args":["-y","x"],"tools":["*"]},"d":{"type":"http","url":"https://h","tools":["a"]}}}',
    { c: NPX, d: { url: 'https://h', transport: 'http', include: ['a'] } },
  ],
  [
    'Codex',
    `model = "m"
[mcp_servers.a]
command = "npx"
args = ["-y", "x"]
env_vars = ["A_KEY"]
startup_timeout_sec = 20
tool_timeout_sec = 45.5
enabled_tools = ["t"]
[mcp_servers.b]
url = "https://h"
bearer_token_env_var = "B_TOKEN"
env_http_headers = { X-Org = "ORG" }
http_headers = { X-Team = "core" }`,
    {
      a: {
        ...NPX,
        env: { A_KEY: `\${A_KEY}` },
        startup_timeout_ms: 20_000,
        timeout_ms: 45_500,
        include: ['t'],
      },
      b: { url: 'https://h', auth: `\${B_TOKEN}`, headers: { 'X-Team': 'core', 'X-Org': `\${ORG}` } },
    },
  ],
  [
    'librefang',
    `[[mcp_servers]]
name = "fs"
timeout_secs = 30
env = ["HOME_DIR"]
[mcp_servers.transport]
type = "stdio"
command = "npx"
args = ["-y", "x"]
[[mcp_servers]]
name = "web"
[mcp_servers.transport]
type = "sse"
url = "https://h/sse"`,
    {
      fs: { ...NPX, env: { HOME_DIR: `\${HOME_DIR}` }, timeout_ms: 30_000 },
      web: { url: 'https://h/sse', transport: 'sse' },
    },
  ],
  [
    'mcp.toml',
    '[server.fs]\ncommand = "npx"\nargs = ["-y", "x"]\nrequired = true',
    { fs: { ...NPX, required: true } },
  ],
  [
    'an editor’s folders',
    `{"f":{"command":"\${workspaceFolder}/bin/s","args":["\${userHome}\${/}x","\${workspaceFolder}"],"cwd":"\${workspaceFolder}"}}`,
    {
      f: {
        command: `\${CRABTALK_PROJECT_DIR}/bin/s`,
        args: [`\${HOME}/x`, `\${CRABTALK_PROJECT_DIR}`],
        cwd: `\${CRABTALK_PROJECT_DIR}`,
      },
    },
  ],
  [
    'numbers as arguments',
    '{"a":{"command":"npx","args":["-y","x","--port",3000]}}',
    { a: { command: 'npx', args: ['-y', 'x', '--port', '3000'] } },
  ],
  [
    'a header helper',
    '{"a":{"url":"https://h","headersHelper":"/opt/get-headers --json"}}',
    { a: { url: 'https://h', auth_helper: ['/opt/get-headers', '--json'] } },
  ],
]

for (const [what, text, entries] of TEXTS) {
  test(`readForeignEntries() reads ${what}`, () => {
    const { servers, notices } = readForeignEntries(text)
    assert.deepEqual(Object.fromEntries(servers.map(({ name, table }) => [name, table])), entries)
    assert.deepEqual(notices, [])
    for (const { name, table } of servers) {
      const { cwd: _, ...rest } = table // an absolute path once its placeholder is expanded
      const outcome = checkValue(mcpEntry, { name, ...rest })
      assert.ok(outcome.ok, JSON.stringify(outcome))
    }
  })
}

test('readForeignEntries() says what it leaves out, and takes no permissions', () => {
  const text = `{"mcpServers": {"My Server": {"command": "npx", "args": ["x"], "autoApprove": ["write_*"], "trust": true,
    "oauth": {"clientId": "c"}, "description": "d", "gallery": true, "x-foo": 1, "headers": {"a": "b"}, "env": {"K": "\${secret:k}"}, "timeout": 5}}}`
  const [server] = readForeignEntries(text).servers
  assert.deepEqual(server?.table, {
    command: 'npx',
    args: ['x'],
    env: { K: `\${secret:k}` },
    timeout_ms: 5000,
  })
  assert.equal(server?.name, 'my-server')
  assert.deepEqual(server?.notices, [
    '"My Server" is called my-server here',
    '"timeout" 5 is taken as seconds',
    '"x-foo", "headers" have no meaning here and are left out',
    '"autoApprove", "trust" are left out: what runs without a question is decided by "permissions" of the entry',
    '"oauth" is left out: the login of the other program does not carry over',
    `the placeholder \${secret:k} is unknown here and stays as it is`,
  ])
})

test('readForeignEntries() names the variables that an entry needs, with the words of the other program', () => {
  const text = `{"inputs": [{"id": "k", "description": "The key"}], "servers": {"a": {"command": "x", "args": ["\${input:k}", "\${B:-c}"],
    "env": {"A": "\${env:A}", "D": "$D"}, "envFile": "\${workspaceFolder}/.env"}}}`
  const [server] = readForeignEntries(text).servers
  assert.deepEqual(server?.table['args'], [`\${K}`, `\${B:-c}`])
  assert.deepEqual(
    server?.variables.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    [{ name: 'A' }, { name: 'B' }, { name: 'D' }, { name: 'K', label: 'The key' }],
  )
  assert.equal(server?.envFile, `\${CRABTALK_PROJECT_DIR}/.env`)
})

test('readForeignEntries() leaves out servers that cannot run elsewhere, and keeps the others', () => {
  const text =
    '{"mcpServers": {"a": "x", "b": {"type": "sdk", "command": "x"}, "c": {"args": []}, "d": {"command": "npx"}}, "context_servers": {"e": {"source": "extension"}}}'
  const { servers, notices } = readForeignEntries(text)
  assert.deepEqual(
    servers.map(({ name }) => name),
    ['d'],
  )
  assert.deepEqual(notices, [
    'The server "a" is left out: it is not an object',
    'The server "b" is left out: servers of the type "sdk" run inside the other program',
    'The server "c" is left out: it has neither a command nor an address',
    'The server "e" is left out: it is an extension of the other program, without a command',
  ])
})

test('readForeignEntries() names each server, and keeps names apart that would be the same', () => {
  const text =
    '{"mcpServers": {"a-b": {"command": "x"}, "a_b": {"command": "x"}, "A B": {"command": "x"}, "__": {"command": "x"}}}'
  assert.deepEqual(
    readForeignEntries(text).servers.map(({ name }) => name),
    ['a-b', 'a_b-2', 'a-b-3', 'server'],
  )
  assert.equal(readForeignEntries('{"command": "npx"}', { name: 'mine' }).servers[0]?.name, 'mine')
  for (const [entry, name] of [
    [{ command: 'npx', args: ['-y', '@modelcontextprotocol/server-github@1.2.3'] }, 'github'],
    [{ command: 'uvx', args: ['mcp-server-fetch==1.0'] }, 'fetch'],
    [{ command: '/opt/bin/My.Tool' }, 'my-tool'],
    [{ url: 'https://mcp.notion.com/mcp' }, 'notion'],
    [{ command: 'docker', args: ['run', '-i', '--rm', 'ghcr.io/github/github-mcp-server'] }, 'github'],
  ] as const) {
    assert.equal(readForeignEntries(JSON.stringify(entry)).servers[0]?.name, name)
  }
  assert.equal(toServerName('É'.repeat(40)), 'e'.repeat(32))
})

test('readForeignEntries() keeps the servers of projects apart (~/.claude.json)', () => {
  const text = JSON.stringify({
    mcpServers: { a: NPX },
    projects: { '/p': { mcpServers: { a: NPX } }, '/q': { history: [] } },
  })
  const { servers } = readForeignEntries(text)
  assert.deepEqual(
    servers.map(({ name, project }) => [name, project]),
    [
      ['a', undefined],
      ['a', '/p'],
    ],
  )
})

for (const [text, message, hint = /mcpServers/] of [
  ['{', /Cannot read the servers: it is not valid JSON/],
  ['{"env": {"KEY": "sk-planted-4711"', /^((?!4711).)*$/],
  ['a = ', /line 1 is not valid TOML/],
  ['[]', /it contains no server/],
  ['{"mcpServers": {}}', /it contains no server/, /the text has "mcpServers"/],
  ['{"comand": "x"}', /it contains no server/, /^did you mean "command"\?$/],
] as const) {
  test(`readForeignEntries() rejects ${text}`, () => {
    assert.throws(() => readForeignEntries(text), { kind: 'invalid', message, hint })
  })
}

test('readForeignEntries() keeps a misspelt key of an entry, so that its check can name it', () => {
  const [server] = readForeignEntries('{"a": {"command": "x", "evn": {"A": "b"}}}').servers
  assert.deepEqual(server?.table['evn'], { A: 'b' })
})
