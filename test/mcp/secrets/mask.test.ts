import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerTarget } from '../../../src/mcp/fingerprint.ts'
import { collectSureSecrets, maskAnswer } from '../../../src/mcp/secrets/mask.ts'

test('maskAnswer() masks secrets in every text, and leaves data as it is', () => {
  const data = 'aaaasecret-1bbbb'
  const answer = {
    content: [
      { type: 'text', text: 'a secret-1 and secret-1' },
      { type: 'image', data, mimeType: 'image/png' },
      { type: 'audio', data },
      { type: 'resource', resource: { uri: 'x://secret-1', blob: data } },
    ],
    structuredContent: { data: 'secret-1', list: [null, 1, 'secret-1'] },
  }
  assert.deepEqual(maskAnswer(answer, ['secret-1', 'short']), {
    content: [
      { type: 'text', text: 'a [secret] and [secret]' },
      { type: 'image', data, mimeType: 'image/png' },
      { type: 'audio', data },
      { type: 'resource', resource: { uri: 'x://[secret]', blob: data } },
    ],
    structuredContent: { data: '[secret]', list: [null, 1, '[secret]'] },
  })
  assert.deepEqual(maskAnswer(['short'], ['short']), ['short'])
})

test('maskAnswer() searches deeply nested values', () => {
  const inmost = { text: 'secret-1' }
  let answer: object = inmost
  for (let i = 0; i < 100_000; i++) answer = { answer }
  maskAnswer(answer, ['secret-1'])
  assert.equal(inmost.text, '[secret]')
})

const SECRETS: Record<string, [Partial<ServerTarget & { transport: 'stdio' }>, string[]]> = {
  'no names of credentials': [
    { envHelper: ['crabtalk', 'vault', 'env', 'API_KEY=SEARCH_API_KEY', 'TOKEN=search/TOKEN'] },
    [],
  ],
  'values under the name of a secret': [
    { env: { API_KEY: 'sk-12345678', ORG: 'microsoft' } },
    ['sk-12345678'],
  ],
  'no paths to secrets': [{ env: { KEY_FILE: '/home/me/key.json', TOKEN: '/abcdefgh' } }, ['/abcdefgh']],
  'no password that its URL shows as well': [
    { args: ['postgres://postgres:postgres@h/db'] },
    ['postgres:postgres'],
  ],
  'the tokens in other values': [
    { env: { HEADERS: '{"Authorization": "Bearer abcdefghij"}' } },
    ['Bearer abcdefghij', 'abcdefghij'],
  ],
}
for (const [what, [changes, secrets]] of Object.entries(SECRETS)) {
  test(`collectSureSecrets() returns ${what}`, () => {
    assert.deepEqual(
      collectSureSecrets({ transport: 'stdio', command: 'x', args: [], env: {}, cwd: '/', ...changes }),
      secrets,
    )
  })
}
