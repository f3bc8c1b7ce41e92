import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCredential } from '../../../src/core/base/credentials.ts'
import { maskCredentials } from '../../../src/core/base/mask-credentials.ts'
import { CREDENTIALS } from '../../support/mcp/credentials.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const NAMES = Object.keys(CREDENTIALS)

for (const [name, value] of Object.entries(CREDENTIALS)) {
  test(`maskCredentials() hides ${name}, and keeps the words around it`, () => {
    const masked = maskCredentials(`before ${value}\nafter`, '***')
    assert.match(masked, /^before .*\*\*\*.*\n?after$/s)
    assert.ok(!hasCredential(masked), masked)
  })
}

test('maskCredentials() leaves no credential in any text that contains one', () => {
  const piece = fc.oneof(
    fc.constantFrom(...NAMES.map((name) => CREDENTIALS[name]!)),
    fc.constantFrom(' ', '\n', ', ', 'key: ', '日本', '"', '🎉', 'https://example.com/'),
    fc.string({ maxLength: 20 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      assert.ok(!hasCredential(maskCredentials(pieces.join(' '), '***')))
    }),
    { numRuns: propertyRuns(500) },
  )
})

test('maskCredentials() hides a token anywhere among words', () => {
  const token = `sk-${'a1'.repeat(10)}`
  for (let before = 0; before < 40; before++) {
    for (const words of ['x'.repeat(before), 'ab '.repeat(before), '日 '.repeat(before)]) {
      for (const end of ['', '\n', ' cd']) {
        assert.equal(maskCredentials(`${words} ${token}${end}`, '***'), `${words} ***${end}`)
      }
    }
  }
})

test('maskCredentials() hides tokens with few or no digits', () => {
  const letters = 'qwertyuiopasdfghjklzxcvbnm'
  for (const token of [`AKIA${'Q'.repeat(16)}`, `AIza${'q'.repeat(35)}`, `npm_${'q'.repeat(36)}`]) {
    assert.equal(maskCredentials(`see ${token} there`, '***'), 'see *** there')
  }
  assert.equal(maskCredentials(`Bearer ${letters}1 there`, '***'), 'Bearer *** there')
})

test('maskCredentials() hides values assigned to the name of a secret', () => {
  const cases: [string, string][] = [
    ['DB_PASSWORD=hunter2 psql', 'DB_PASSWORD=*** psql'],
    ['export API_KEY="abc12345"; run', 'export API_KEY="***"; run'],
    ['clientSecret: a1b2c3d4', 'clientSecret: ***'],
    ['{"password": "correct1horse"}', '{"password": "***"}'],
    ['?access_token=a1b2c3d4&page=2', '?access_token=***&page=2'],
  ]
  for (const [text, masked] of cases) assert.equal(maskCredentials(text, '***'), masked)
})

test('maskCredentials() keeps text that only mentions secrets', () => {
  const texts = [
    'token: string, password?: string',
    'const apiKey = process.env.API_KEY2',
    'password = readPassword(3)',
    'the secret: nobody knows it',
    'max_tokens=4096 and next_page_token=abc123def',
    'DB_PASSWORD=<your-password-1>',
    'key: value1, keyboard=azerty12',
    'cookies: ./jar/cookies1.txt',
    'e83c5163316f89bfbde7d9ab23ca2e25604af290 at https://example.com/a@b',
  ]
  for (const text of texts) assert.equal(maskCredentials(text, '***'), text)
})

test('maskCredentials() hides a private key with all its lines, also with escaped line feeds', () => {
  const lines = ['Proc-Type: 4,ENCRYPTED', '', ...Array(20).fill('aB3+/'.repeat(12)), 'aB3=']
  const key = ['-----BEGIN RSA PRIVATE KEY-----', ...lines, '-----END RSA PRIVATE KEY-----'].join('\n')
  assert.equal(maskCredentials(`see\n${key}\nand go on`, '***'), 'see\n***\nand go on')
  assert.equal(maskCredentials(JSON.stringify(`${key}\nand`), '***'), '"***\\nand"')
})

test('maskCredentials() takes linear time for a text with many near matches', () => {
  for (const piece of [
    '-----BEGIN RSA PRIVATE KEY-----\n',
    'a1=',
    'password=',
    '://a:',
    'Bearer ',
    'sk-',
    '\n \\n',
  ]) {
    assert.ok(maskCredentials(piece.repeat(20_000), '').length >= 0)
  }
})
