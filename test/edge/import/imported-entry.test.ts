import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatImportPlan } from '../../../src/commands/mcp/import-text.ts'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { exportServers } from '../../../src/edge/import/export-formats.ts'
import { readForeignEntries } from '../../../src/edge/import/foreign-entry.ts'
import { FOREIGN_KINDS } from '../../../src/edge/import/foreign-kinds.ts'
import { type ImportedServer, toImportedServer } from '../../../src/edge/import/imported-entry.ts'
import { toPortableServer } from '../../../src/edge/import/portable-server.ts'

const VAULT: Record<string, string> = { SLACK_TOKEN: 'another-4711', TEAM_TOKEN: 'team-4711' }
const SHELL: Record<string, string> = { REGION: 'eu', PAGE_SIZE: '20' }

async function importOne(server: JsonObject, isExpanded = false): Promise<ImportedServer> {
  const [one] = readForeignEntries(JSON.stringify({ mcpServers: { slack: server } })).servers
  const imported = await toImportedServer(one!, {
    folder: '/project',
    isProject: true,
    isExpanded,
    homeDir: '/home/me',
    origin: 'claude',
    stored: async (name) => VAULT[name],
    find: async (name) => {
      const [value, kind] =
        VAULT[name] === undefined ? [SHELL[name], 'environment' as const] : [VAULT[name], 'vault' as const]
      return value === undefined ? undefined : { name, value, source: { kind } }
    },
  })
  assert.ok(!('problem' in imported), JSON.stringify(imported))
  return imported
}

/** Servers, the parts of their entries, and the values that move. */
const CASES: [what: string, server: JsonObject, entry: JsonObject, secrets: Record<string, string>][] = [
  [
    'keeps another value of the vault',
    { command: 's', env: { SLACK_TOKEN: 'mine-4711', REGION: 'us' } },
    { env: { REGION: 'us' }, env_helper: ['crabtalk', 'vault', 'env', 'SLACK_TOKEN=slack/SLACK_TOKEN'] },
    { 'slack/SLACK_TOKEN': 'mine-4711' },
  ],
  [
    'expands what is no secret, and refers to what is one',
    {
      command: 's',
      args: [`\${REGION}`, `\${NONE:-x}`],
      env: { SIZE: `\${PAGE_SIZE}`, BOT: `\${TEAM_TOKEN}` },
    },
    { args: ['eu', 'x'], env: { SIZE: '20' }, env_helper: ['crabtalk', 'vault', 'env', 'BOT=TEAM_TOKEN'] },
    {},
  ],
  [
    'stores no value that crabtalk itself has hidden',
    { command: 's', env: { OTHER_TOKEN: '[secret]', REGION: 'us' } },
    {
      env: { REGION: 'us' },
      env_helper: ['crabtalk', 'vault', 'env', 'OTHER_TOKEN'],
    },
    {},
  ],
  [
    'keeps the text of a value with a secret in it',
    {
      command: 's',
      env: { OPTIONS: `{"key": "\${TEAM_TOKEN}"}`, DB_URL: `postgres://\${DB_USER}:\${DB_PASS}@h/x` },
    },
    {
      env_helper: [
        ...['crabtalk', 'vault', 'env', `OPTIONS={"key": "\${TEAM_TOKEN}"}`],
        `DB_URL=postgres://\${DB_USER}:\${DB_PASS}@h/x`,
      ],
    },
    {},
  ],
  [
    'stores secrets under the name of the server, unless the vault has the same value',
    { command: 's', env: { API_KEY: 'mine-4711', TEAM_TOKEN: 'team-4711' } },
    { env_helper: ['crabtalk', 'vault', 'env', 'API_KEY=slack/API_KEY', 'TEAM_TOKEN'] },
    { 'slack/API_KEY': 'mine-4711', TEAM_TOKEN: 'team-4711' },
  ],
  [
    'keeps variables with a default',
    {
      command: 's',
      env: {
        TOKEN: `\${DB_TOKEN:-dev}`,
        LEVEL: `\${LEVEL:-info}`,
        SIZE: `\${PAGE_SIZE:-10}`,
        OTHER: `\${OTHER:-}`,
      },
    },
    {
      env: undefined,
      env_helper: [
        ...['crabtalk', 'vault', 'env', `TOKEN=\${DB_TOKEN:-dev}`, `LEVEL=\${LEVEL:-info}`],
        ...[`SIZE=\${PAGE_SIZE:-10}`, `OTHER=\${OTHER:-}`],
      ],
    },
    {},
  ],
  [
    'moves secrets in texts and defaults',
    {
      command: 's',
      env: { TOKEN: `\${DB_TOKEN:-Abc123def4711}`, DB: `postgres://me:abc-4711@\${DB_HOST}/x` },
    },
    {
      env_helper: [
        ...['crabtalk', 'vault', 'env', `TOKEN=\${DB_TOKEN:-\${slack/TOKEN}}`],
        `DB=postgres://\${slack/DB}@\${DB_HOST}/x`,
      ],
    },
    { 'slack/TOKEN': 'Abc123def4711', 'slack/DB': 'me:abc-4711' },
  ],
  [
    'keeps the scheme of a header apart',
    { url: 'https://h/mcp', headers: { Authorization: 'Sentry-Bearer abc-4711', 'X-Team': 'core' } },
    {
      headers: { 'X-Team': 'core' },
      auth_helper: ['crabtalk', 'vault', 'header', 'Authorization=Sentry-Bearer slack/SLACK_TOKEN'],
    },
    { 'slack/SLACK_TOKEN': 'abc-4711' },
  ],
  [
    'lets mcp-remote expand the header',
    { command: 'npx', args: ['mcp-remote', 'https://h', '--header', 'Authorization: Bearer abc-4711-def'] },
    {
      args: ['mcp-remote', 'https://h', '--header', `Authorization: \${SLACK_TOKEN}`],
      env_helper: ['crabtalk', 'vault', 'env', 'SLACK_TOKEN=slack/SLACK_TOKEN'],
    },
    { 'slack/SLACK_TOKEN': 'Bearer abc-4711-def' },
  ],
  [
    'starts relative paths of a project there',
    { command: './bin/s', args: ['./data', `\${workspaceFolder}/x`] },
    { command: '/project/bin/s', args: ['./data', '/project/x'], cwd: '/project' },
    {},
  ],
]

for (const [what, server, entry, secrets] of CASES) {
  test(`toImportedServer() ${what}`, async () => {
    const imported = await importOne(server)
    const found = Object.fromEntries(
      Object.keys(entry).map((key) => [key, (imported.entry as JsonObject)[key]]),
    )
    assert.deepEqual([found, imported.secrets, imported.entry.disabled], [entry, secrets, undefined])
  })
}

test('formatImportPlan() shows what a server runs and sends, and the credentials that exist, without a secret', async () => {
  const env = { BOT: `\${TEAM_TOKEN}`, MINE_TOKEN: 'mine-4711', REGION: 'us' }
  const program = await importOne({ command: 's', args: ['x'], env, cwd: '/w', disabled: true })
  const headers = { Authorization: `Bearer \${SLACK_TOKEN}`, 'X-Team': 'core' }
  const remote = await importOne({ url: 'https://h/mcp', headers })
  const path = '/project/.mcp.json'
  const servers = [program, remote].map((one) => ({ ...one, path }))
  const file = { path, entries: { servers: [], notices: [] } }
  assert.equal(
    formatImportPlan('crab', { servers, skipped: [], notices: [], secrets: {} }, [file]),
    [
      path,
      '  + slack',
      '      turned off here, and not started',
      '      runs s x',
      '      works in /w',
      '      with REGION=us',
      '      env_helper = ["crabtalk", "vault", "env", "BOT=TEAM_TOKEN", "MINE_TOKEN=slack/MINE_TOKEN"]',
      '      gets TEAM_TOKEN from the vault',
      '      into the vault: slack/MINE_TOKEN',
      '  + slack',
      '      connects to https://h/mcp',
      '      sends X-Team: core',
      '      auth_helper = ["crabtalk", "vault", "header", "SLACK_TOKEN"]',
      '      gets SLACK_TOKEN from the vault',
      '',
    ].join('\n'),
  )
})

test('toImportedServer() names the variables that are missing, and those with a default', async () => {
  const env = { URL: `p://\${DB_USER}:\${DB_PASS}@h`, TOKEN: `\${DB_TOKEN:-dev}`, BOT: `\${TEAM_TOKEN:-x}` }
  const { missing, notices, found } = await importOne({ command: 's', env, args: [`\${NONE:-x}`] })
  assert.deepEqual(missing, ['DB_USER', 'DB_PASS'])
  assert.deepEqual(found, [{ name: 'TEAM_TOKEN', source: 'the vault' }])
  assert.deepEqual(notices, [
    'DB_TOKEN is not set: its default is used until crabtalk vault set DB_TOKEN',
    'args[0] is stored as it is now: no variable is looked up there later',
  ])
})

test('toImportedServer() keeps variables in arguments for a mcp.toml, and enables the server', async () => {
  const args = ['--level', `\${LEVEL:-info}`, 'postgres://me:abc-4711@h/x', `\${REGION}`, `\${NONE}`]
  const { entry, secrets, missing } = await importOne({ command: 's', args }, true)
  assert.deepEqual(entry, {
    name: 'slack',
    command: 's',
    args: ['--level', `\${LEVEL:-info}`, `postgres://\${SLACK_PASSWORD}@h/x`, `\${REGION}`, `\${NONE}`],
  })
  assert.deepEqual([secrets, missing], [{ 'slack/SLACK_PASSWORD': 'me:abc-4711' }, ['NONE']])
})

test('exportServers() writes no value of env, headers or auth in any format', () => {
  const entries = [
    {
      name: 'one',
      command: 'one',
      args: ['--api-key', 'planted-4711-a', '--level', 'x'],
      env: { LEVEL: 'planted-value', TOKEN: 'planted-4711-b' },
    },
    { name: 'two', url: 'https://h/mcp?api_key=planted-4711-c', headers: { 'X-Team': 'planted-team' } },
    { name: 'three', url: 'https://h', auth: 'planted-4711-d', required: true },
  ]
  for (const kind of FOREIGN_KINDS) {
    const { text, notices } = exportServers(entries.map(toPortableServer), kind)
    assert.doesNotMatch(text + notices.join(''), /planted/, kind)
    assert.match(text, /LEVEL/)
    const { servers } = readForeignEntries(text)
    assert.equal(servers.length, kind === 'claude-desktop' ? 1 : 3)
    if (kind !== 'claude-desktop') assert.ok(notices.includes('three: without required'), notices.join())
  }
})

test('exportServers() names the credentials of vault helpers, with their prefixes', () => {
  const header = (...words: string[]) => ({
    url: 'https://h',
    auth_helper: ['crabtalk', 'vault', 'header', ...words],
  })
  const entries = [
    { name: 'one', ...header('CONTEXT7_API_KEY=CONTEXT7_CONTEXT7_API_KEY') },
    { name: 'two', ...header('Authorization=Basic AZURE_DEVOPS_TOKEN') },
    { name: 'three', ...header('Authorization=Bearer API_TOK', 'X-Org=three/ORG') },
    {
      name: 'four',
      command: 'four',
      env_helper: ['crabtalk', 'vault', 'env', 'API_KEY=MY_API_KEY', 'T=four/T'],
    },
  ]
  const { mcpServers } = JSON.parse(exportServers(entries.map(toPortableServer), 'claude').text)
  assert.deepEqual(
    Object.values(mcpServers as Record<string, JsonObject>).map((one) => one['headers'] ?? one['env']),
    [
      { CONTEXT7_API_KEY: `\${CONTEXT7_CONTEXT7_API_KEY}` },
      { Authorization: `Basic \${AZURE_DEVOPS_TOKEN}` },
      { Authorization: `Bearer \${API_TOK}`, 'X-Org': `\${ORG}` },
      { API_KEY: `\${MY_API_KEY}`, T: `\${T}` },
    ],
  )
})

test('exportServers() writes defaults for programs that have them, and names them for the others', () => {
  const words = [`A=\${B:-dev}`, `C=\${D:-\${four/T}}`]
  const server = toPortableServer({
    name: 'four',
    command: 'x',
    env_helper: ['crabtalk', 'vault', 'env', ...words],
  })
  const claude = exportServers([server], 'claude')
  assert.deepEqual(JSON.parse(claude.text).mcpServers.four.env, { A: `\${B:-dev}`, C: `\${D}` })
  const cursor = exportServers([server], 'cursor')
  assert.deepEqual(JSON.parse(cursor.text).mcpServers.four.env, { A: `\${env:B}`, C: `\${env:D}` })
  assert.deepEqual([claude.notices, cursor.notices], [[], ['four: without the default of B']])
})
