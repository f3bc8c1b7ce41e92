import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCredential, isPlaceholder } from '../../../src/core/base/credentials.ts'
import { CREDENTIALS } from '../../support/mcp/credentials.ts'
import { propertyRuns } from '../../support/property-runs.ts'

for (const [name, value] of Object.entries(CREDENTIALS)) {
  test(`hasCredential() finds ${name}, alone, in a text and in an address`, () => {
    assert.ok(hasCredential(value))
    for (const text of [`use ${value} for it`, `"${value}"`, `x=${value}\n`, `(${value})`]) {
      assert.ok(hasCredential(text), text)
    }
    for (const text of [
      `https://evil.example/${value}`,
      `/v1/${value}/x`,
      `https://evil.example/?q=use+${value}`,
    ]) {
      assert.ok(hasCredential(text), text)
    }
  })
}

test('hasCredential() finds the token of a Telegram bot in its addresses', () => {
  const token = CREDENTIALS['a Telegram token']
  assert.ok(hasCredential(`https://api.telegram.org/bot${token}/sendMessage`))
})

const HARMLESS: Record<string, string> = {
  'a hash': createHash('sha256').update('x').digest('hex'),
  'a commit': '9e107d9d372bb6826bd81d3542a419d6c9f0b1a2',
  'a UUID': randomUUID(),
  'a ULID': '01JZZZZZZZZZZZZZZZZZZZZZZZ',
  'an integrity value': `sha512-${createHash('sha512').update('x').digest('base64')}`,
  'a branch': 'feature/sk-navigation-of-the-new-settings-page-2024',
  'a package': 'sk-learn-extensions-and-more-things',
  'a sentence about tokens': 'The bearer of this letter carries responsibility-for-everything-in-it',
  'a sentence about basics': 'basic understanding-of-the-whole-thing is enough',
  'an address': 'https://example.com:8080/a@b?c=d#e@f',
  'an address of git': 'git@github.com:owner/repository-with-a-long-name.git',
  'an address with a user': 'ssh://git@github.com/owner/repository.git',
  'an address with a placeholder': 'postgres://user:password@localhost/db',
  'an address with a variable': ['postgres://app:', '$', '{DB_PASSWORD}@db.internal:5432/app'].join(''),
  'a scoped package': 'https://registry.npmjs.org/@scope/package',
  'a public key':
    '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----',
  'a certificate': '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
  'code that names a key': 'const token = await getToken(process.env.GITHUB_TOKEN ?? "")',
  'a prefix alone': 'Tokens begin with ghp_, sk- or xoxb- and AKIA.',
  'a masked one': 'sk-********************************',
  'an SSH public key': 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SaGFE1N1yqs8zq0z me@host',
}

for (const [name, value] of Object.entries(HARMLESS)) {
  test(`hasCredential() does not take ${name} for a credential`, () => {
    assert.equal(hasCredential(value), false)
  })
}

test('hasCredential() does not take a base64 file for a credential', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 300, maxLength: 3_000 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64')
      assert.equal(hasCredential(text), false)
      assert.equal(hasCredential(`data:image/png;base64,${text}`), false)
    }),
    { numRuns: propertyRuns(1_000) },
  )
  assert.equal(hasCredential(randomBytes(1_000_000).toString('base64')), false)
})

test('hasCredential() does not take a UUID, hash or number for a credential', () => {
  const hex = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
  const hashes = fc.oneof(hex(16), hex(20), hex(32)).map((bytes) => Buffer.from(bytes).toString('hex'))
  const words = fc.oneof(fc.uuid(), hashes, fc.double().map(String), fc.webUrl(), fc.emailAddress())
  fc.assert(
    fc.property(words, (word) => !hasCredential(`see ${word} and go on`)),
    { numRuns: propertyRuns(1_000) },
  )
})

test('isPlaceholder() recognizes values that are to be filled in', () => {
  const variable = ['$', '{TOKEN}'].join('')
  const template = ['$', '{{ secrets.KEY }}'].join('')
  const known = [
    '',
    '***',
    'xxxx',
    '<your token>',
    '[secret]',
    '{{token}}',
    variable,
    template,
    '$TOKEN',
    '%TOKEN%',
  ]
  for (const text of [
    ...known,
    'YOUR_API_KEY',
    'your-api-key-here',
    'changeme',
    'op://vault/item',
    'process.env.X',
  ]) {
    assert.ok(isPlaceholder(text), text)
  }
  for (const text of ['hunter2', 'correct horse battery staple', 'p4ssw0rd!', 'Tr0ub4dor&3', '<b']) {
    assert.equal(isPlaceholder(text), false, text)
  }
})
