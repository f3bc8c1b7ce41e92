import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerTarget } from '../../src/mcp/fingerprint.ts'
import { hideSecrets, showTarget } from '../../src/mcp/shown-target.ts'

const LINES: Record<string, [string[], string]> = {
  'plain words': [['npx', '-y', '@scope/server@1.2', '/home/me'], 'npx -y @scope/server@1.2 /home/me'],
  'words a shell would read': [['sh', '-c', "echo 'a b'", ''], `sh -c 'echo '\\''a b'\\''' ''`],
  'a secret behind its option': [
    ['x', '--api-key', 'sk-1', '--port', '80'],
    'x --api-key [secret] --port 80',
  ],
  'a secret in its option': [['x', '--token=abc', '-v'], 'x --token=[secret] -v'],
  'a password in an address': [['psql', 'postgres://me:pw@db/x'], 'psql postgres://[secret]@db/x'],
}
for (const [what, [[command, ...args], shown]] of Object.entries(LINES)) {
  test(`showTarget() shows ${what}`, () => {
    assert.equal(showTarget(program({ command: command!, args })), shown)
  })
}

test('showTarget() shows an address without its secrets', () => {
  const remote = { transport: 'http', headers: {}, auth: undefined, authHelper: undefined } as const
  assert.equal(
    showTarget({ ...remote, url: 'https://me:pw@h.example/mcp?key=1' }),
    'https://[secret]@h.example/mcp?…',
  )
})

test('hideSecrets() takes the values out that were given under names of secrets', () => {
  const target = program({ env: { API_KEY: 'sk-12345678', LEVEL: 'information', PIN_TOKEN: '1234' } })
  const text = 'bad key sk-12345678, information 1234'
  assert.equal(hideSecrets(text, target), 'bad key [secret], information 1234')
})

function program(changes: Partial<ServerTarget & { transport: 'stdio' }>): ServerTarget {
  return { transport: 'stdio', command: 'x', args: [], env: {}, cwd: '/', ...changes }
}
