import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import {
  findLostSecrets,
  findUnfilledValues,
  refuseUnexpanded,
  toUnfilledText,
} from '../../../src/core/config/unfilled-values.ts'

const variable = (name: string) => `$\{${name}}`

const UNFILLED: Record<string, [entry: Partial<McpEntry>, key: string | undefined]> = {
  'a variable of a shell': [{ env: { A: variable('GITHUB_TOKEN') } }, 'env,A'],
  'a bare variable': [{ env: { A: '$TOKEN' } }, 'env,A'],
  'an input of an editor': [{ env: { A: variable('input:token') } }, 'env,A'],
  'a variable in a longer value': [{ env: { URL: `postgres://me:${variable('PW')}@h/db` } }, 'env,URL'],
  'a variable with a default': [{ env: { A: variable('A:-x') } }, 'env,A'],
  'a word to replace': [{ env: { A: 'YOUR_API_KEY_HERE' } }, 'env,A'],
  'another word to replace': [{ env: { A: 'your-api-key' } }, 'env,A'],
  'a gap in brackets': [{ env: { A: '<YOUR_KEY>' } }, 'env,A'],
  'a row of x': [{ env: { A: 'ghp_xxxxxxxxxxxx' } }, 'env,A'],
  'a header': [
    { url: 'http://h', headers: { Authorization: `Bearer ${variable('T')}` } },
    'headers,Authorization',
  ],
  'an auth': [{ url: 'http://h', auth: variable('T') }, 'auth'],
  'an address': [{ url: `http://h/?token=${variable('T')}` }, 'url'],
  'an argument': [{ command: 'x', args: ['-v', `--token=${variable('T')}`] }, 'args,1'],
  'a helper': [{ url: 'http://h', auth_helper: ['h', '--key', '<KEY>'] }, 'auth_helper,2'],
  'no variable of a script': [{ command: 'sh', args: ['-c', `echo ${variable('HOME')} | cat`] }, undefined],
  'no variable that the program defines': [
    { command: 'npx', args: ['mcp-remote', `Authorization:${variable('AUTH')}`], env: { AUTH: 'Bearer x1' } },
    undefined,
  ],
  'no secret': [{ env: { A: 'hunter2', B: 'my-secret', C: '$ecret1', D: 'x', E: '<a' } }, undefined],
}
for (const [what, [entry, key]] of Object.entries(UNFILLED)) {
  test(`findUnfilledValues() finds ${what}`, () => {
    const found = findUnfilledValues({ name: 'a', ...entry })
    assert.equal(found[0]?.path.join(), key)
  })
}

test('toUnfilledText() reports the placeholder and what to do', () => {
  const [one] = findUnfilledValues({ name: 'gh', command: 'x', env: { A: variable('A') } })
  assert.deepEqual(toUnfilledText('gh', 'other', one!), {
    message: `env.A of the server "gh" is the placeholder ${variable('A')}, which is sent literally`,
    hint: 'give the value: crabtalk mcp set -a other gh --env A takes it from this shell',
  })
})

test('findLostSecrets() finds redaction placeholders that were written to the file', () => {
  const entry = { name: 'a', command: 'x', args: ['-v', '--token=[secret]'], env: { A: '[secret]', B: 'b' } }
  assert.deepEqual(findLostSecrets(entry), [
    ['env', 'A'],
    ['args', 1],
  ])
})

test('refuseUnexpanded() refuses variables in arguments and addresses that nothing fills in', () => {
  const refuse = (entry: Partial<McpEntry>) => refuseUnexpanded('Cannot enable it', { name: 'a', ...entry })
  const expected = { kind: 'invalid', hint: /mcp\.toml .*--scope user/ }
  for (const entry of [
    { command: 'x', args: [`p://${variable('PW')}@h`] },
    { url: `https://h/?key=${variable('PW')}` },
  ])
    assert.throws(() => refuse(entry), { ...expected, message: /(?:args\[0\]|url) contains \$\{PW\}/ })
  refuse({ command: 'x', args: [variable('PW')], env_helper: ['crabtalk', 'vault', 'env', 'PW=a/PW'] })
  refuse({ command: 'x', args: ['<YOUR_KEY>'], env: { A: variable('A') } })
})
