import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseOptions } from '../../../src/cli/parse.ts'
import {
  changeEntry,
  type NewServerEntry,
  readNewServers,
  readWholeEntry,
} from '../../../src/commands/mcp/entry.ts'
import { CRABTALK } from '../../../src/commands/table.ts'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { makeTestHost } from '../../support/test-host.ts'

/** Arguments of `mcp add`, and the resulting entry; `@` is the working directory. */
const ADDITIONS: [string[], JsonObject][] = [
  [['fs', 'server'], { name: 'fs', command: 'server' }],
  [['fs', 'npx', '-y', 'pkg', '/x'], { name: 'fs', command: 'npx', args: ['-y', 'pkg', '/x'] }],
  [['fs', '--', 'npx', '-y', '--', '-x'], { name: 'fs', command: 'npx', args: ['-y', '--', '-x'] }],
  [
    ['-e', 'A=1', '--env', 'B=x=y', 'fs', 'server'],
    { name: 'fs', command: 'server', env: { A: '1', B: 'x=y' } },
  ],
  [['-e', 'EMPTY=', 'fs', 'server'], { name: 'fs', command: 'server', env: { EMPTY: '' } }],
  [['-e', 'TOKEN', 'fs', 'server'], { name: 'fs', command: 'server', env: { TOKEN: 'from here' } }],
  [['fs', './server'], { name: 'fs', command: '@/server' }],
  [['fs', 'bin/server'], { name: 'fs', command: '@/bin/server' }],
  [['fs', 'node', 'server.js'], { name: 'fs', command: 'node', args: ['@/server.js'] }],
  [['fs', 'node', 'sub/server.js'], { name: 'fs', command: 'node', args: ['@/sub/server.js'] }],
  [
    ['fs', 'node', '.', '..', './none', '--config=./c.json'],
    {
      name: 'fs',
      command: 'node',
      args: ['@', tmpdir(), '@/none', '--config=@/c.json'],
    },
  ],
  [
    ['fs', 'npm', 'run', 'sub', 'none.js', '@scope/pkg'],
    {
      name: 'fs',
      command: 'npm',
      args: ['run', 'sub', 'none.js', '@scope/pkg'],
    },
  ],
  [
    ['--cwd', 'sub', 'fs', 'node', './server.js'],
    {
      name: 'fs',
      command: 'node',
      args: ['./server.js'],
      cwd: '@/sub',
    },
  ],
  [['--cwd=sub', 'fs', './server'], { name: 'fs', command: '@/sub/server', cwd: '@/sub' }],
  [
    ['--set', 'timeout_ms=5', '--set', 'permissions.allow=["a"]', 'fs', 'server'],
    {
      name: 'fs',
      command: 'server',
      timeout_ms: 5,
      permissions: { allow: ['a'] },
    },
  ],
  [['far', 'https://mcp.example.com/mcp'], { name: 'far', url: 'https://mcp.example.com/mcp' }],
  [
    ['--set', 'headers.X-Team=core', 'far', 'http://h/mcp'],
    {
      name: 'far',
      url: 'http://h/mcp',
      headers: { 'X-Team': 'core' },
    },
  ],
  [
    [
      ...['--transport', 'sse', '--header', 'X-Team: core: one', '--header', 'X-Empty:'],
      ...['--auth-env', 'TOKEN', 'far', 'https://h/sse'],
    ],
    {
      name: 'far',
      url: 'https://h/sse',
      headers: { 'X-Team': 'core: one', 'X-Empty': '' },
      auth: 'from here',
      transport: 'sse',
    },
  ],
  [
    ['--auth', 't0k3n', '--transport=http', 'far', 'https://h'],
    { name: 'far', url: 'https://h', auth: 't0k3n', transport: 'http' },
  ],
  [['--transport', 'stdio', 'fs', 'server'], { name: 'fs', command: 'server' }],
  [
    ['fs', 'C:\\Tools\\my server.exe', 'D:\\notes'],
    { name: 'fs', command: 'C:\\Tools\\my server.exe', args: ['D:\\notes'] },
  ],
  [
    [
      '-e',
      'B=2',
      'fs',
      '{"command": "./run", "args": ["server.js", "-v"], "env": {"A": "x=y"}, "type": "stdio"}',
    ],
    { name: 'fs', command: '@/run', args: ['@/server.js', '-v'], env: { A: 'x=y', B: '2' } },
  ],
  [
    ['--auth', 't', 'far', '{"type": "streamable-http", "url": "https://h", "headers": {"X": "1"}}'],
    { name: 'far', url: 'https://h', headers: { X: '1' }, auth: 't', transport: 'http' },
  ],
]

for (const [argv, entry] of ADDITIONS) {
  test(`readNewServers() creates an entry from ${argv.join(' ')}`, async () => {
    const { folder, addition } = await parseAddition(argv)
    assert.deepEqual(JSON.parse(JSON.stringify(addition.entry).replaceAll(folder, '@')), entry)
  })
}

test('readNewServers() reports which paths it made absolute', async () => {
  const { folder, addition } = await parseAddition(['fs', './run', 'server.js', 'plain', '/abs.js'])
  assert.deepEqual(
    [...addition.paths],
    [
      ['./run', join(folder, 'run')],
      ['server.js', join(folder, 'server.js')],
    ],
  )
})

/** Invalid arguments, and why. */
const MISTAKES: [string[], RegExp][] = [
  [['-e', 'NOWHERE', 'fs', 'server'], /^Cannot use --env: NOWHERE is not set here$/],
  [['-e', '=x', 'fs', 'server'], /^Cannot use --env: it has no name$/],
  [['--set', 'sk-secret', 'fs', 'server'], /^Cannot use --set: it is not key=value$/],
  [['far', 'https://h/mcp', 'more'], /^Cannot add https:\/\/h\/mcp: an address takes no arguments$/],
  [['--header', 'sk-secret', 'far', 'https://h'], /^Cannot use --header: it is not Name: value$/],
  [['--auth-env', 'NOWHERE', 'far', 'https://h'], /^Cannot use --auth-env: NOWHERE is not set here$/],
  [['--auth', 'a', '--auth-env', 'TOKEN', 'far', 'https://h'], /^Cannot combine --auth and --auth-env$/],
  [['--auth', 'a', 'fs', 'server'], /^Cannot use --auth: it is for an address, and this is a program$/],
  [['-e', 'A=1', 'far', 'https://h'], /^Cannot use --env: it is for a program, and this is an address$/],
  [['--transport', 'sse', 'fs', 'server'], /^Cannot use --transport sse: this is a program$/],
  [['--transport', 'stdio', 'far', 'https://h'], /^Cannot use --transport stdio: this is an address$/],
  [['fs', '{"command": "x"'], /: it is not valid JSON/],
  [['fs', '{"command": "x"}', 'more'], /^Cannot use words after the JSON of a server$/],
  [['fs', '{"type": "websocket", "url": "x"}'], /its "type" is not stdio, http or sse$/],
  [['fs'], /^Cannot run "crabtalk mcp add": <command> is missing$/],
  [
    [
      'gh',
      `{"inputs": [{"id": "k", "description": "The key"}], "servers": {"x": {"url": "https://h", "headers": {"K": "\${input:k}", "L": "\${NOWHERE}"}}}}`,
    ],
    /^Cannot add gh: K \(The key\), NOWHERE are not set here$/,
  ],
  [['-e', 'A=1', '{"a": {"command": "x"}, "b": {"command": "y"}}'], /^Cannot use --env for several servers$/],
]

for (const [argv, message] of MISTAKES) {
  test(`readNewServers() rejects ${argv.join(' ')}`, async () => {
    await assert.rejects(parseAddition(argv), { kind: 'usage', message, hint: /./ })
  })
}

test('readNewServers() reads all servers of a pasted text, with the values of the shell', async () => {
  await using at = await makeTestHost({ env: { TOKEN: 'from here', HOME: '/home/me' } })
  await writeFile(join(at.folder, '.env'), 'FILE=yes\nTOKEN=other\n')
  const text = `{"mcpServers": {
    "My Server": {"command": "npx", "args": ["--key=\${TOKEN}", "\${NONE:-plain}"], "env": {"TOKEN": "\${TOKEN}"}, "envFile": "\${workspaceFolder}/.env", "trust": true},
    "far": {"httpUrl": "https://h/\${TOKEN}", "headers": {"Authorization": "Bearer \${env:TOKEN}"}}, // the remote one
  }}`
  const servers = await readNewServers(parseEntryOptions('mcp add', [text]), at.host)
  assert.deepEqual(
    servers.map(({ entry }) => entry),
    [
      {
        name: 'my-server',
        command: 'npx',
        // the entry's own variable is left to the server
        args: [`--key=\${TOKEN}`, 'plain'],
        env: { FILE: 'yes', TOKEN: 'from here' },
      },
      {
        name: 'far',
        url: 'https://h/from here',
        transport: 'http',
        headers: { Authorization: 'Bearer from here' },
      },
    ],
  )
  assert.deepEqual(servers[0]!.notices, [
    'my-server: "My Server" is called my-server here',
    'my-server: "trust" is left out: what runs without a question is decided by "permissions" of the entry',
  ])
  assert.deepEqual(
    servers.map(({ used = [] }) => [...used]),
    [['TOKEN'], ['TOKEN']],
  )
})

const ENTRY = { name: 'fs', command: 'npx', args: ['x'], env: { TOKEN: '[secret]', LOG: '[secret]' } }

/** Arguments of `mcp set`, and the resulting changes of ENTRY; `@` is the working directory. */
const CHANGES: [string[], JsonObject][] = [
  [['fs', 'timeout_ms=5'], { ...ENTRY, timeout_ms: 5 }],
  [['fs', 'args=["a", "-b"]'], { ...ENTRY, args: ['a', '-b'] }],
  [['fs', 'args='], { name: 'fs', command: 'npx', env: ENTRY.env }],
  [['fs', 'env.LOG='], { ...ENTRY, env: { TOKEN: '[secret]' } }],
  [['fs', '-e', 'LOG=2', '-e', 'TOKEN'], { ...ENTRY, env: { TOKEN: 'from here', LOG: '2' } }],
  [
    ['fs', 'permissions.allow=["a"]', 'permissions.deny=["b"]'],
    {
      ...ENTRY,
      permissions: { allow: ['a'], deny: ['b'] },
    },
  ],
  [['fs', 'command=./server', 'cwd=sub'], { ...ENTRY, command: '@/server', cwd: '@/sub' }],
  [
    ['fs', '{"name":"fs","url":"https://h","auth":"[secret]"}'],
    { name: 'fs', url: 'https://h', auth: '[secret]' },
  ],
  [['fs', '{"source":"x","entry":{"command":"s"}}', '--auth', 't'], { name: 'fs', command: 's', auth: 't' }],
  [['fs', 'name=fs', 'start=lazy'], { ...ENTRY, start: 'lazy' }],
  [['fs', '--header', 'X: 1', '--auth', 't'], { ...ENTRY, headers: { X: '1' }, auth: 't' }],
]

for (const [argv, entry] of CHANGES) {
  test(`changeEntry() applies ${argv.join(' ')}`, async () => {
    await using at = await makeTestHost({ env: { TOKEN: 'from here' } })
    const options = parseEntryOptions('mcp set', argv)
    const whole = await readWholeEntry(options, at.host)
    const changed = changeEntry(ENTRY, { options, host: at.host, whole })
    assert.deepEqual(JSON.parse(JSON.stringify(changed).replaceAll(at.folder, '@')), entry)
  })
}

for (const [argv, message] of [
  [['fs'], /^Cannot set anything: no key=value is given$/],
  [['fs', 'a=1', 'sk-secret'], /^Cannot use argument 3: it is not key=value$/],
  [['fs', 'name=other'], /^Cannot set the name of a server$/],
  [['fs', 'name='], /^Cannot set the name of a server$/],
] as const) {
  test(`changeEntry() rejects ${argv.join(' ')}`, async () => {
    await using at = await makeTestHost()
    const options = parseEntryOptions('mcp set', argv)
    const whole = await readWholeEntry(options, at.host)
    const change = () => changeEntry(ENTRY, { options, host: at.host, whole })
    assert.throws(change, { kind: 'usage', message, hint: /./ })
  })
}

async function parseAddition(argv: readonly string[]): Promise<{ folder: string; addition: NewServerEntry }> {
  await using at = await makeTestHost({ env: { TOKEN: 'from here' } })
  await mkdir(join(at.folder, 'sub'))
  await Promise.all(['server.js', 'sub/server.js'].map((name) => writeFile(join(at.folder, name), '')))
  return {
    folder: at.folder,
    addition: (await readNewServers(parseEntryOptions('mcp add', argv), at.host))[0]!,
  }
}

function parseEntryOptions(path: string, argv: readonly string[]) {
  const command = CRABTALK.find((one) => one.path.join(' ') === path)!
  return parseOptions({ program: 'crabtalk', command }, argv)
}
