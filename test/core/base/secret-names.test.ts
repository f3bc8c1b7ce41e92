import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskCredentials } from '../../../src/core/base/mask-credentials.ts'
import { isNamedSecret, isSecretName, secretVerdict } from '../../../src/core/base/secrets/secret-names.ts'
import { messageText } from '../../../src/core/session-search/message-text.ts'
import { findTaint } from '../../../src/mcp/taint/find-taint.ts'
import { readSources } from '../../support/imports.ts'

const NEVER = new AbortController().signal
const words = (text: string) => text.trim().split(/\s+/)

const SURE =
  words(`password PASSWORD userPassword db_password PGPASSWORD passwd passphrase secret client_secret
  clientSecret token access_token accessToken ACCESSTOKEN X-Auth-Token api_key apiKey X-API-Key APIKEY private_key secretKey
  aws_secret_access_key authorization Authorization proxy-authorization cookie credentials connection_string jwt bearer
  refreshToken passcode creds signing_key AWS_SECRET_ACCESS_KEY sshKey`)

const SHAPED =
  words(`DB_PASS GITHUB_PAT STRIPE_KEY SENTRY_DSN license_key auth pat pw pass pwd stripeKey openai_key
  ACME_KEY PGPASS smtp_pass webhook_key github_pat`)

const PLAIN =
  words(`monkey name token_count max_tokens maxTokens nextPageToken next_page_token page_token cursor secret_name
  secret_id secretary password_policy passwordless tokenize tokens author authors auth_type compass bypass keyword public_key
  primary_key foreign_key sort_key partition_key cookie_policy SORT_KEY key keys keyboard path pattern patch header value
  string token_type cache_key issue_key row_key idempotency_key`)

test('secretVerdict() looks at whole words at the end of a name, in every spelling', () => {
  for (const name of SURE) assert.equal(secretVerdict(name), 'always', name)
  for (const name of SHAPED) assert.equal(secretVerdict(name), 'shaped', name)
  for (const name of PLAIN) assert.equal(secretVerdict(name), 'never', name)
  assert.equal(secretVerdict('x'.repeat(10_000)), 'never')
})

/** Names that the rules intentionally judge differently. */
const HIDDEN_ONLY =
  words(`next_page_token nextPageToken page_token token_type token_count secret_name secret_id sort_key SORT_KEY
  password_policy cookie_policy auth_type public_key primary_key foreign_key partition_key cache_key issue_key row_key
  idempotency_key key keys KEY_FILE sig X-Amz-Signature otp totp sas`)

test('the rules differ only where the strict one would reject what grants no access', () => {
  for (const name of HIDDEN_ONLY) {
    assert.deepEqual([secretVerdict(name), isSecretName(name)], ['never', true], name)
  }
  const differing = [...SURE, ...SHAPED, ...PLAIN].filter(
    (name) => (secretVerdict(name) !== 'never') !== isSecretName(name),
  )
  assert.deepEqual(
    differing.filter((name) => !HIDDEN_ONLY.includes(name)),
    [],
  )
})

test('the scan, the index and the display read the same table', () => {
  const sources = new Map(readSources('src').map((source) => [source.path, source]))
  const reads = (path: string, seen = new Set<string>()): boolean => {
    if (path === 'src/core/base/secrets/secret-names.ts') return true
    if (seen.has(path)) return false
    seen.add(path)
    return (sources.get(path)?.imports ?? []).some(({ file }) => file !== undefined && reads(file, seen))
  }
  for (const path of [
    'src/mcp/taint/find-taint.ts',
    'src/core/session-search/message-text.ts',
    'src/core/base/mask-credentials.ts',
    'src/core/config/secrets.ts',
    'src/mcp/connection/trace.ts',
  ]) {
    assert.ok(reads(path), path)
  }
  const patterns = [...sources.values()].filter(({ code }) =>
    code.some((line) => /^(?!.*\bimport\b).*\bpasswd\b.*\|.*(?:secret|token)/i.test(line)),
  )
  assert.deepEqual(patterns.map(({ path }) => path).sort(), [
    'src/core/base/credentials.ts',
    'src/core/base/secrets/secret-names.ts',
  ])
})

test('everything rejected is also hidden: the generous column has every name of the strict one', () => {
  for (const name of [...SURE, ...SHAPED]) assert.ok(isSecretName(name), name)
  for (const name of words('KEY_FILE token_type secret_name sort_key X-Amz-Signature key')) {
    assert.ok(isSecretName(name), name)
  }
  for (const name of words('keyboard author max_tokens monkey path header sort')) {
    assert.equal(isSecretName(name), false, name)
  }
})

test('isNamedSecret() accepts ambiguous names only with a value that looks like a secret', () => {
  for (const name of SHAPED) {
    assert.ok(isNamedSecret(name, 'abc123def456'), name)
    for (const value of ['none', 'basic', 'oauth2', './keys/a1.pem', 'PROJ-12345', '2026-11-21T10', 'a b1']) {
      assert.equal(isNamedSecret(name, value), false, `${name} ${value}`)
    }
  }
  assert.ok(isNamedSecret('SENTRY_DSN', 'https://abcdef@sentry.example/1'))
})

const SECRETS: [args: Record<string, unknown>, secret: string][] = [
  [{ DB_PASS: 'hunter2abc' }, 'hunter2abc'],
  [{ text: 'DB_PASS=hunter2abc' }, 'hunter2abc'],
  [{ text: "GITHUB_PAT='abc123def456'" }, 'abc123def456'],
  [{ text: 'a=1\nSTRIPE_KEY=abc123def456\n' }, 'abc123def456'],
  [{ text: 'passcode: abc1234' }, 'abc1234'],
  [{ text: 'DB_PASSWORD=correcthorse' }, 'correcthorse'],
  [{ text: 'A=1\\nAPI_TOKEN=correcthorse' }, 'correcthorse'],
  [{ license_key: 'abcd-1234-efgh' }, 'abcd-1234-efgh'],
  [{ text: '{\\"password\\":\\"hunter2hunter2\\"}' }, 'hunter2hunter2'],
  [{ fields: [{ name: 'password', value: 'hunter2hunter2' }] }, 'hunter2hunter2'],
  [{ credentials: { user: 'a', pass: 'hunter2hunter2' } }, 'hunter2hunter2'],
  [{ creds: 'abcdefgh' }, 'abcdefgh'],
]
for (const [args, secret] of SECRETS) {
  test(`the scan and the index see the same secret in ${JSON.stringify(args)}`, async () => {
    assert.ok(await findTaint(args, undefined, NEVER))
    const text = messageText({
      ...{ role: 'assistant', content: '' },
      tool_calls: [{ id: '1', name: 't', arguments: JSON.stringify(args) }],
    })
    assert.ok(!maskCredentials(text, '***').includes(secret))
  })
}

/** Texts that agents really send, with words that also name secrets. */
const HARMLESS: (string | Record<string, unknown>)[] = [
  'What is a token?',
  'password reset',
  'the secret: nobody knows it',
  'token: string, password?: string',
  'const apiKey = process.env.API_KEY2',
  'const apiKey = config.apiKey1',
  'password = readPassword(3)',
  'max_tokens=4096 and next_page_token=abc123def',
  'DB_PASSWORD=<your-password-1>',
  'DB_PASSWORD=',
  'DB_PASSWORD=$DB_PASSWORD',
  'API_KEY=$' + '{API_KEY}',
  'API_KEY=your-api-key-here',
  'TOKEN=$(cat token.txt)',
  'PASSWORD="$(pass show db)"',
  'PASSWORD=required',
  'SECRET=true',
  'LOG_LEVEL=debug1234',
  'NODE_ENV=production1',
  'key: value1, keyboard=azerty12',
  'cookies: ./jar/cookies1.txt',
  'ssh_key: ~/.ssh/id_ed25519',
  'KEY_FILE=/home/me/key1.json',
  'sort_key=created_at1',
  'primary_key: user_id2',
  'Authorization: none',
  'auth: oauth2',
  'auth=basic',
  'e83c5163316f89bfbde7d9ab23ca2e25604af290',
  'https://example.com/a@b',
  'https://example.com/?key=value1',
  'a: 1\nb: 2',
  'SELECT password FROM users WHERE id = 12345a',
  'function isSecretKey(name: string): boolean1 {}',
  '{"token": "string"}',
  '{"password":"Passwort","token":"Your token","secret":"boolean"}',
  '{"type":"object","properties":{"password":{"type":"string"}}}',
  'export PATH=/usr/bin2:$PATH',
  'MIT1 License key features: abc123',
  'pass: 12 fail: 3',
  'tests: 12 pass, 3 fail',
  '2026-11-21T10:00:00Z token=refreshed',
  { next_page_token: 'CAUQAA', pageToken: 'x', continuation_token: 'y', max_tokens: 100, token_count: 7 },
  { secret_name: 'db', token_type: 'bearer', password_policy: 'strict', key: 'name', author: 'me' },
  { idempotency_token: 'abc', sync_token: 'abc', tokens: 5, tokenizer: 'cl100k' },
  { sort_key: 'created_at1', partition_key: 'user#1234ab', cache_key: 'user:1234:a' },
  { issue_key: 'PROJ-12345', project_key: 'CRAB12' },
  { key: 'a1b2c3d4e5f6', row_key: 'a1b2c3d4' },
  { auth: 'none' },
  { auth: { type: 'oauth2' } },
  { auth: 'basic', user: 'ann' },
  { auth: '/run/auth1.sock' },
  { pwd: '/home/me/project1' },
  { pass: 12, fail: 3 },
  { pass: true },
  { pat: 'src/**/*1.ts' },
  { dsn: 'sqlite:./data1.db' },
  { dsn: 'postgres://localhost/db1' },
  { credentials: { user: 'ann' } },
  { credentials: '<your key>' },
  { password: '', token: null, secret: false, api_key: '***' },
  { fields: [{ name: 'user', value: 'ann1234' }] },
  { fields: [{ name: 'password', label: 'Password', text: 'Enter your password' }] },
  { key: 'token_count', value: 'abc12345' },
  { path: '/etc/passwd', query: 'password reset' },
  { public_key: 'ssh-ed25519 AAAAC3Nza me@host' },
  { id: '0f9d7ad2-17cb-4a53-9d10-0a8e3c1f2b44' },
  { url: 'https://example.com/a?b=c' },
  { body: '{"name":"a","tokens":5,"page_token":"x1y2z3w4"}' },
  { body: '["password", "token1"]' },
  { query: 'mutation { setKey(key: "a1b2c3d4") }' },
]
test('harmless texts and arguments pass the scan and stay in the index', async () => {
  assert.ok(HARMLESS.length >= 60)
  for (const one of HARMLESS) {
    const args = typeof one === 'string' ? { text: one } : one
    assert.equal(await findTaint(args, undefined, NEVER), undefined, JSON.stringify(one))
    if (typeof one === 'string') assert.equal(maskCredentials(one, '***'), one)
  }
})

test('names and texts of any length take linear time', async () => {
  for (const piece of ['a=', 'PASSWORD=', 'password:"', '\\"token\\":', 'KEY_', '{"a":', '"\\\\"', 'x.y-']) {
    assert.ok((await findTaint({ text: piece.repeat(200_000) }, undefined, NEVER)) !== null)
    assert.ok(isSecretName(piece.repeat(200_000)) !== undefined)
  }
})
