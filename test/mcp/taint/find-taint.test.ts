import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { findTaint, isPageToken } from '../../../src/mcp/taint/find-taint.ts'
import { CREDENTIALS } from '../../support/mcp/credentials.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const NEVER = new AbortController().signal
const TOKEN = CREDENTIALS['a GitHub token']!
const find = (args: JsonObject, schema?: JsonObject) => findTaint(args, schema, NEVER)

test('findTaint() returns the path of what it finds', async () => {
  const cases: [JsonObject, string, RegExp][] = [
    [{ text: `say ${TOKEN}` }, 'text', /looks like a credential/],
    [{ a: [{ b: 1 }, { c: ['x', TOKEN] }] }, 'a[1].c[1]', /credential/],
    [{ headers: { Authorization: 'anything at all' } }, 'headers.Authorization', /name of a secret/],
    [{ env: { 'my key': 1, DB_PASSWORD: 'hunter2' } }, 'env.DB_PASSWORD', /name/],
    [{ login: { pin: '1', password: 123456 } }, 'login.password', /name/],
    [{ secrets: ['hunter2'] }, 'secrets[0]', /name/],
    [{ 'odd key': TOKEN }, "'odd key'", /credential/],
    [{ text: 'DB_PASSWORD=hunter2hunter2\nSTRIPE_KEY=abc123def456' }, 'text', /assigns a value to the name/],
    [{ content: '# none\nexport DB_PASS=correcthorse\n' }, 'content', /assigns a value/],
    [{ fields: [{ name: 'password', value: 'hunter2hunter2' }] }, 'fields[0].value', /name of a secret/],
    [{ headers: [{ key: 'X-Api-Key', value: 'abcdefgh' }] }, 'headers[0].value', /name of a secret/],
    [{ body: '{"password":"hunter2hunter2"}' }, 'body', /assigns a value/],
    [{ body: '{"login":{"password":"correcthorse"}}' }, 'body.login.password', /name of a secret/],
    [
      { body: JSON.stringify({ a: JSON.stringify({ password: 'correcthorse' }) }) },
      'body.a.password',
      /name/,
    ],
    [{ body: JSON.stringify({ a: JSON.stringify({ api_key: 'abc12345' }) }) }, 'body', /assigns a value/],
    [{ credentials: { user: 'a', pass: 'hunter2hunter2' } }, 'credentials.pass', /name/],
    [{ auth: { username: 'a', pass: 'correcthorse' } }, 'auth.pass', /name/],
    [{ GITHUB_PAT: 'abc123def456' }, 'GITHUB_PAT', /name/],
    [{ first: { password: 'one' }, second: { password: 'two' } }, 'first.password', /name/],
  ]
  for (const [args, path, why] of cases) {
    const taint = await find(args)
    assert.equal(taint?.path, path)
    assert.match(taint.why, why)
  }
})

test('findTaint() prints no name that is a secret itself, or is unprintable', async () => {
  assert.equal((await find({ map: { [TOKEN]: 1 } }))?.path, "map.'…'")
  assert.equal((await find({ [`x${'y'.repeat(200)}`]: TOKEN }))?.path, "'…'")
  assert.equal((await find({ 'a\u001b[31mb': TOKEN }))?.path, "'…'")
})

test('findTaint() ignores values that are empty, placeholders, or not secret by any name', async () => {
  const fine: JsonObject[] = [
    {},
    { password: '' },
    { token: null, secret: false, api_key: '<your key>' },
    { password: '***', apiKey: 'changeme', client_secret: '[secret]' },
    { next_page_token: 'CAUQAA', pageToken: 'x', continuation_token: 'y', max_tokens: 100, token_count: 7 },
    {
      secret_name: 'db',
      token_type: 'bearer',
      password_policy: 'strict',
      key: 'name',
      author: 'me',
      keyboard: 'us',
    },
    { idempotency_token: 'abc', sync_token: 'abc', tokens: 5, tokenizer: 'cl100k' },
    { path: '/etc/passwd', query: 'password reset', text: 'What is a token?' },
    { credentials: { user: 'ann' }, auth: { type: 'none' } },
  ]
  for (const args of fine) assert.equal(await find(args), undefined, JSON.stringify(args))
})

test('findTaint() trusts a tool that declares its token as a page token', async () => {
  const schema = (description: string) => ({
    type: 'object',
    properties: { token: { type: 'string', description } },
  })
  assert.equal(await find({ token: 'abc' }, schema('Pagination token of the last answer')), undefined)
  assert.equal((await find({ token: 'abc' }, schema('API access token; see the next page')))?.path, 'token')
  assert.equal((await find({ token: 'abc' }, schema('The token')))?.path, 'token')
  assert.equal((await find({ deep: { token: 'abc' } }, schema('A cursor')))?.path, 'deep.token')
  assert.equal((await find({ token: TOKEN }, schema('A cursor')))?.path, 'token')
})

test('findTaint() does not trust a tool that declares this about its password', async () => {
  for (const name of ['password', 'api_key', 'access_token', 'authorization']) {
    const schema = { properties: { [name]: { description: 'A cursor: the next page' } } }
    assert.equal((await find({ [name]: 'hunter2' }, schema))?.path, name)
  }
})

test('findTaint() gives up on arguments that are nested too deep or have too many parts', async () => {
  let deep: JsonObject = {}
  for (let i = 0; i < 10_000; i++) deep = { a: deep }
  assert.match((await find(deep))!.why, /nested more than 64 levels deep/)
  assert.match(
    (await find({ list: Array.from({ length: 200_000 }, () => 0) }))!.why,
    /more than 100000 parts/,
  )
})

test('findTaint() finds a credential anywhere in a long text, and yields to other work', async () => {
  const filler = randomBytes(3_000_000).toString('base64')
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  try {
    assert.equal(await find({ data: filler }), undefined)
    assert.ok(turns > 0, 'nothing else could run')
    for (const at of [0, 128 * 1024 - 7, 128 * 1024, 1_000_001, filler.length]) {
      const text = `${filler.slice(0, at)} ${TOKEN} ${filler.slice(at)}`
      assert.equal((await find({ data: text }))?.path, 'data', `at ${at}`)
    }
  } finally {
    clearInterval(timer)
  }
})

test('findTaint() stops with its signal', async () => {
  const stop = new AbortController()
  const finding = findTaint({ data: 'x '.repeat(5_000_000) }, undefined, stop.signal)
  stop.abort()
  await assert.rejects(finding, { name: 'AbortError' })
})

test('findTaint() finds a credential at any place of any arguments, without revealing it', async () => {
  const place = fc.array(fc.oneof(fc.constantFrom('a', 'b c', 'ü', 'items'), fc.nat({ max: 3 })), {
    minLength: 1,
    maxLength: 20,
  })
  const secrets = fc.constantFrom(...Object.values(CREDENTIALS))
  await fc.assert(
    fc.asyncProperty(place, secrets, fc.jsonValue({ maxDepth: 3 }), async (path, secret, beside) => {
      const args = { top: put(path, secret, beside) }
      const taint = await find(args)
      assert.ok(taint, JSON.stringify(args))
      assert.ok(!JSON.stringify(taint).includes(secret))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('findTaint() accepts arguments of plain words, in any form', async () => {
  const word = fc.constantFrom(
    'read',
    'src/main.ts',
    'Buy milk',
    '2026-11-21',
    'a@b.org',
    'https://example.com/a?b=c',
  )
  const { args } = fc.letrec((tie) => ({
    args: fc.dictionary(
      fc.constantFrom('path', 'query', 'limit', 'page_token', 'items', 'key'),
      tie('value'),
    ),
    value: fc.oneof({ maxDepth: 4 }, word, fc.integer(), fc.boolean(), fc.array(tie('value')), tie('args')),
  }))
  await fc.assert(
    fc.asyncProperty(args, async (given) => {
      assert.equal(await find(given as JsonObject), undefined)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('isPageToken() accepts schemas of any form', () => {
  for (const schema of [undefined, {}, { properties: 1 }, { properties: { token: 1 } }, { properties: [] }]) {
    assert.equal(isPageToken('token', schema as never), false)
  }
})

function put(path: readonly (string | number)[], secret: string, beside: unknown): unknown {
  const [part, ...rest] = path
  if (part === undefined) return secret
  const inner = put(rest, secret, beside)
  return typeof part === 'string'
    ? { beside, [part]: inner }
    : [...Array.from({ length: part }, () => beside), inner]
}
