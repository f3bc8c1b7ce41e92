import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNameClashes, mcpEntry } from '../../../src/core/config/mcp-entry.ts'
import { checkValue } from '../../../src/core/config/schema.ts'

function messages(entry: unknown): string[] {
  const outcome = checkValue(mcpEntry, entry)
  return outcome.ok
    ? []
    : outcome.problems.map(({ message, hint }) => (hint ? `${message} (${hint})` : message))
}

test('a program entry with every key is accepted unchanged', () => {
  const entry = {
    name: 'fs',
    command: 'npx',
    args: ['-y', '', '$LITERAL'],
    env: { LOG: '1', EMPTY: '' },
    cwd: '/home/me',
    include: [],
    exclude: ['write_*'],
    permissions: { allow: ['read_*'], ask: ['write_*'], deny: ['rm'] },
    disabled: false,
    share: false,
    required: true,
    start: 'lazy',
    idle_timeout_ms: 1000,
    startup_timeout_ms: 1000,
    timeout_ms: 2_147_483_647,
    output_limit: 1024,
    taint_scanning: false,
    taint_policy: 'warn',
    origin: { canonical: { '$.env.LOG': '$LOG' }, template: 'fs', version: 3 },
  }
  assert.deepEqual(checkValue(mcpEntry, entry), { ok: true, value: entry })
  const least = { name: 'a', command: 'x' }
  assert.deepEqual(checkValue(mcpEntry, least), { ok: true, value: least })
})

test('a remote entry with every key is accepted unchanged', () => {
  const entry = {
    name: 'tracker',
    url: 'https://tracker.example/mcp?x=1',
    headers: { 'X-Team': 'core' },
    auth: 'Bearer x',
    auth_helper: ['crabup', 'mcp', 'token', 'tracker'],
    transport: 'sse',
  }
  assert.deepEqual(checkValue(mcpEntry, entry), { ok: true, value: entry })
})

for (const [key, line, allowed] of [
  ['auth_helper', 'crabtalk vault key anthropic', 'crabtalk vault header and crabtalk mcp token'],
  ['auth_helper', '/bin/crabtalk vault get provider:x', 'crabtalk vault header and crabtalk mcp token'],
  ['auth_helper', 'crabtalk -- vault key anthropic', 'crabtalk vault header and crabtalk mcp token'],
  ['env_helper', 'crabtalk mcp token docs', 'crabtalk vault env'],
] as const) {
  test(`the ${key} of an MCP entry cannot be ${line}`, () => {
    const kind = key === 'env_helper' ? { command: 'x' } : { url: 'http://localhost' }
    assert.deepEqual(messages({ name: 'a', ...kind, [key]: line.split(' ') }), [
      `"${key}" must not be a command of crabtalk other than ${allowed}`,
    ])
  })
}

const NAME =
  '"name" must be 1 to 32 of a-z, 0-9, - and single _, and neither start with - or _ nor end with _'

for (const [name, entry, expected] of [
  [
    'globs that are not rules',
    {
      name: 'a',
      command: 'x',
      permissions: { allow: ['a\nb', 'a\u2028', 'a*(b)\\'], deny: ['', 'a ', ' '] },
    },
    ['allow[0]', 'allow[1]', 'deny[0]', 'deny[1]', 'deny[2]'].map(
      (key) => `"permissions.${key}" must be names without control characters or a space at the end`,
    ),
  ],
  [
    'no server at all',
    { name: 'a' },
    ['the configuration needs "command" (a program) or "url" (a remote server)'],
  ],
  ['a misspelt server, once', { name: 'a', comand: 'x' }, ['unknown key "comand" (did you mean "command"?)']],
  [
    'a program that is a remote server',
    { name: 'a', command: 'x', url: 'http://localhost' },
    ['"url" is for remote servers, and this entry has "command", a program'],
  ],
  [
    'keys of a remote server in a program',
    { name: 'a', command: 'x', headers: {}, auth: 'x', auth_helper: ['x'], transport: 'http' },
    ['headers', 'auth', 'auth_helper', 'transport'].map(
      (key) => `"${key}" is for remote servers, and this entry has "command"`,
    ),
  ],
  [
    'keys of a program in a remote server',
    { name: 'a', url: 'http://localhost', args: [], env: {}, cwd: '/' },
    ['args', 'env', 'cwd'].map((key) => `"${key}" is for programs, and this entry has "url"`),
  ],
  ['a relative directory', { name: 'a', command: 'x', cwd: 'src' }, ['"cwd" must be an absolute path']],
  [
    'an address of another kind',
    { name: 'a', url: 'file:///secret' },
    ['"url" must be an http:// or https:// address'],
  ],
  [
    'values that no process or request can carry',
    { name: 'a', command: 'x\0', args: ['\0'], env: { 'A=': 'x', B: '\0' } },
    [
      '"command" must not hold a NUL character',
      '"args[0]" must not hold a NUL character',
      `"env.'A='" is not a possible variable name`,
      '"env.B" must not hold a NUL character',
    ],
  ],
  [
    'headers that would end their line',
    { name: 'a', url: 'http://localhost', headers: { 'a b': 'x', c: 'x\r\ny' }, auth: 'a\nb' },
    [
      `"headers.'a b'" is not a possible header name`,
      '"headers.c" must be a single line',
      '"auth" must be a single line',
    ],
  ],
  [
    'an empty command, an empty helper, a duration no timer holds',
    { name: 'a', command: '', timeout_ms: 2_147_483_648 },
    ['"command" must not be empty', '"timeout_ms" must be at most 2147483647'],
  ],
  [
    'an empty helper',
    { name: 'a', url: 'http://localhost', auth_helper: [] },
    ['"auth_helper" must not be empty'],
  ],
  [
    'unknown permission lists',
    { name: 'a', command: 'x', permissions: { alow: [] } },
    ['unknown key "permissions.alow" (did you mean "allow"?)'],
  ],
  ['the wrong type', 'fs', ['the configuration must be a table, not a string']],
] as const) {
  test(`an MCP entry is rejected: ${name}`, () => {
    assert.deepEqual(messages(entry), expected)
  })
}

for (const name of ['a', '0', 'git-hub', 'a_b-c_d', 'a-', 'x'.repeat(32)]) {
  test(`"${name}" is a valid server name`, () => assert.deepEqual(messages({ name, command: 'x' }), []))
}

for (const name of ['', 'A', '-a', '_a', 'a_', 'a__b', 'a.b', 'é', 'a b', 'x'.repeat(33), 'a\n']) {
  test(`${JSON.stringify(name)} is not a valid server name`, () => {
    assert.deepEqual(messages({ name, command: 'x' }), [NAME])
  })
}

test('findNameClashes() treats - and _ as equal, and skips invalid entries', () => {
  const entries = [{ name: 'git-hub' }, 'x', { name: 'other' }, { name: 3 }, { name: 'git_hub' }]
  assert.deepEqual(
    [...findNameClashes(entries)],
    [{ path: ['mcps', 4, 'name'], predicate: 'is taken by mcps[0]' }],
  )
  assert.deepEqual([...findNameClashes('none')], [])
})
