import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerTarget } from '../../../src/mcp/fingerprint.ts'
import { hideSecrets, showTarget } from '../../../src/mcp/secrets/shown-target.ts'

const LINES: Record<string, [string[], string]> = {
  'plain words': [['npx', '-y', '@scope/server@1.2', '/home/me'], 'npx -y @scope/server@1.2 /home/me'],
  'words a shell would read': [['sh', '-c', "echo 'a b'", ''], `sh -c 'echo '\\''a b'\\''' ''`],
  'a secret after its option': [['x', '--api-key', 'sk-1', '--port', '80'], 'x --api-key [secret] --port 80'],
  'a secret in its option': [['x', '--token=abc', '-v'], 'x --token=[secret] -v'],
  'a secret of a variable': [
    ['docker', 'run', '-e', 'GITHUB_PERSONAL_ACCESS_TOKEN=ghp_abcdef', '--env=PGPASSWORD=pw', '-eA_KEY=k'],
    'docker run -e GITHUB_PERSONAL_ACCESS_TOKEN=[secret] --env=PGPASSWORD=[secret] -eA_KEY=[secret]',
  ],
  'a secret of a header': [
    ['x', '--header', 'Authorization: Bearer abcdef', '--header=X-Api-Key:k', '-H', 'X-Team: a'],
    "x --header 'Authorization: [secret]' --header=X-Api-Key:[secret] -H 'X-Team: a'",
  ],
  'secrets under names of several words': [
    ['x', '--connection-string', 'X', '--apiKey', 'k', '-access_token', 't'],
    'x --connection-string [secret] --apiKey [secret] -access_token [secret]',
  ],
  'values that only resemble a secret': [
    ['x', '--keyboard', 'de', '--author', 'bob', '--no-auth', 'run', '--max-tokens', '5', 'COLS=80', 'a:b'],
    'x --keyboard de --author bob --no-auth run --max-tokens 5 COLS=80 a:b',
  ],
  'an option after the option of a secret': [['x', '--token', '--verbose'], 'x --token --verbose'],
  'secrets in a script and in JSON': [
    ['sh', '-c', 'A=1 B_TOKEN=t x --key k y://u:p@h', '--config', '{"apiKey": "k", "n": "1"}'],
    `sh -c 'A=1 B_TOKEN=[secret] x --key [secret] y://[secret]@h' --config '{"apiKey": "[secret]", "n": "1"}'`,
  ],
  'a secret in the query of an address': [
    ['x', 'https://h/?a=1&token=t'],
    `x 'https://h/?a=1&token=[secret]'`,
  ],
  'a password in an address': [['psql', 'postgres://me:pw@db/x'], 'psql postgres://[secret]@db/x'],
}
for (const [what, [[command, ...args], shown]] of Object.entries(LINES)) {
  test(`showTarget() shows ${what}`, () => {
    assert.equal(showTarget(program({ command: command!, args })), shown)
  })
}

test('showTarget() shows a URL without its secrets', () => {
  const remote = { transport: 'http', headers: {}, auth: undefined, authHelper: undefined } as const
  assert.equal(
    showTarget({ ...remote, url: 'https://me:pw@h.example/mcp?key=1' }),
    'https://[secret]@h.example/mcp?…',
  )
  for (const [path, shown] of [
    ['api/s/ODk3MjNmNzItYjQ5NC00MTEy/mcp', 'api/s/[secret]/mcp'],
    ['0f9d7ad2-17cb-4a53-9d10-0a8e3c1f2b44/sse', '[secret]/sse'],
    ['v1/my-team-of-crabs-2026/mcp', 'v1/my-team-of-crabs-2026/mcp'],
  ] as const) {
    const target = { ...remote, url: `https://h.example/${path}` }
    assert.equal(showTarget(target), `https://h.example/${shown}`)
    assert.equal(hideSecrets(`no such path: /${path}`, target), `no such path: /${shown}`)
  }
})

const HIDDEN: Record<string, [Partial<Program>, string, string]> = {
  'values of its environment, whatever their names': [
    { env: { API_KEY: 'sk-12345678', WORD: 'open sesame', LEVEL: 'info' } },
    'bad key sk-12345678, open sesame, info',
    'bad key [secret], [secret], info',
  ],
  'no paths and numbers, unless a secret is meant': [
    { env: { DIR: '/home/me/data', PORT: '123456789', TOKEN: '/abcdefgh' } },
    '/home/me/data 123456789 /abcdefgh',
    '/home/me/data 123456789 [secret]',
  ],
  'secrets of its command line': [
    { args: ['--api-key', 'sk-1', '-e', 'A_TOKEN=ghp_1', '--header', 'Authorization: Bearer abcdef'] },
    'sk-1 ghp_1 abcdef',
    '[secret] [secret] [secret]',
  ],
  'the password of an address, also without its user and its escapes': [
    { args: ['postgres://me:p%40ss@h/db'], env: { URL: 'mysql://you:word@h/db' } },
    'me:p%40ss, p%40ss, p@ss, word',
    '[secret], [secret], [secret], [secret]',
  ],
  'the lines of a long secret': [
    { env: { KEY: 'BEGIN KEY\nabcdefghij\nEND' } },
    'line abcdefghij',
    'line [secret]',
  ],
  'a longer secret before a shorter one in it': [
    { env: { A: 'abcdefgh', B: 'abcdefgh-ijkl' } },
    'abcdefgh-ijkl abcdefgh',
    '[secret] [secret]',
  ],
  'the beginning of a secret where the text was cut': [
    { env: { A: 'abcdefghijkl' } },
    'wrong: abcdefg… (abcdef…) and abcd',
    'wrong: [secret]… ([secret]…) and abcd',
  ],
}
for (const [what, [changes, text, shown]] of Object.entries(HIDDEN)) {
  test(`hideSecrets() hides ${what}`, () => assert.equal(hideSecrets(text, program(changes)), shown))
}

test('hideSecrets() hides the user and the password of a URL as HTTP sends them', () => {
  const [start, end] = ['http://user:passw%40rd', '@h/mcp']
  const sent = Buffer.from('user:passw@rd').toString('base64')
  const target: ServerTarget = {
    ...{ transport: 'http', url: start + end },
    ...{ headers: {}, auth: undefined, authHelper: undefined },
  }
  assert.equal(
    hideSecrets(`I know Basic ${sent}, and user too`, target),
    'I know Basic [secret], and user too',
  )
})

test('hideSecrets() hides the credentials of a remote server', () => {
  const target: ServerTarget = {
    ...{ transport: 'http', url: 'https://me:word@h/mcp?api_key=k3y-1' },
    ...{ headers: { 'X-Team': 'core-team', Authorization: 'Bearer abcdef' }, auth: 'auth-value' },
    authHelper: ['helper', '--token', 'tok-1'],
  }
  const text = 'word, k3y-1, core-team, abcdef, auth-value, tok-1, h'
  assert.equal(hideSecrets(text, target), `${'[secret], '.repeat(6)}h`)
})

type Program = ServerTarget & { transport: 'stdio' }

function program(changes: Partial<Program>): ServerTarget {
  return { transport: 'stdio', command: 'x', args: [], env: {}, cwd: '/', ...changes }
}
