import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLeases } from '../../../src/core/lease/memory-leases.ts'
import { toLoginName, toLoginUrl } from '../../../src/edge/credentials/login-name.ts'
import { getAccessToken } from '../../../src/edge/oauth/access-token.ts'
import type { LoginHost } from '../../../src/edge/oauth/log-in.ts'
import { readLogin, type StoredLogin, writeLogin } from '../../../src/edge/oauth/login-store.ts'
import { hashBearerToken } from '../../../src/mcp/remote/token-hash.ts'
import {
  correctMetadata,
  type HostileAnswer,
  hostileServer,
  refuseWith,
} from '../../support/oauth/hostile-server.ts'
import { memoryVault } from '../../support/oauth/memory-vault.ts'

test('getAccessToken() refreshes a token that expires soon, once for all that need it', async () => {
  await using at = await loggedIn({
    '/token': { access_token: 'second', token_type: 'bearer', expires_in: 60 },
  })
  assert.equal((await at.get()).token, 'first')
  at.now += 3_600_000 - 91_000
  assert.equal((await at.get()).token, 'first')
  at.now += 2_000
  const all = await Promise.all(Array.from({ length: 5 }, () => at.get()))
  assert.deepEqual([...new Set(all.map(({ token }) => token))], ['second'])
  assert.deepEqual(at.paths, ['/token'])
  at.now += 31_000 // half of a short life
  await at.get()
  assert.deepEqual(at.paths, ['/token', '/token'])
})

test('getAccessToken() refreshes a refused token unless another process has', async () => {
  await using at = await loggedIn({ '/token': { access_token: 'second', token_type: 'bearer' } })
  const first = hashBearerToken('first')
  assert.deepEqual(await at.get(first), { token: 'second', expiresAt: undefined })
  assert.deepEqual(await at.get(first), { token: 'second', expiresAt: undefined })
  assert.deepEqual(at.paths, ['/token'])
  const login = await readLogin(at.vault, at.url)
  assert.deepEqual([login?.tokens?.refresh_token, login?.tokens?.scope], ['refresh-1', 'tools'])
})

test('getAccessToken() ends a login whose refresh is refused, and keeps one that fails', async () => {
  const refused = refuseWith(400, { error: 'invalid_grant', error_description: 'unknown token refresh-1' })
  let answer: HostileAnswer = refuseWith(503, 'busy')
  await using at = await loggedIn({
    '/token': (...parts) => (typeof answer === 'function' ? answer(...parts) : undefined),
  })
  const first = hashBearerToken('first')
  await assert.rejects(at.get(first), {
    kind: 'unavailable',
    message: /^Cannot refresh the login to http.*HTTP 503$/,
  })
  assert.equal((await at.get()).token, 'first')
  answer = refused
  await assert.rejects(at.get(first), {
    kind: 'credentials',
    message:
      /^Cannot use http\S+: the login has ended: it refused \(invalid_grant\): unknown token \[secret\]$/,
    hint: 'crabtalk mcp login NAME',
  })
  await assert.rejects(at.get(), { kind: 'credentials', message: /: the login has ended$/ })
  assert.equal(at.paths.length, 2)
})

test('getAccessToken() refuses without a login, and logins are stored by address', async () => {
  await using at = await loggedIn({})
  await assert.rejects(at.get('', 'https://other.example.com/mcp?key=1'), {
    kind: 'credentials',
    message: 'Cannot use https://other.example.com/mcp: you are not logged in',
  })
  assert.equal(toLoginUrl('https://me:x@a.example.com:443/mcp?ref=1#x'), 'https://a.example.com/mcp')
  assert.equal(toLoginName('https://a.example.com/mcp'), 'oauth:https://a.example.com/mcp')
  for (const url of ['https://a.example.com/m%20cp', `https://a.example.com/${'x'.repeat(300)}`])
    assert.match(toLoginName(url), /^oauth:https:\/\/a\.example\.com\/@[0-9a-f]{16}$/)
})

/** Opens a login in memory whose token `first` is valid for an hour. */
async function loggedIn(answers: Readonly<Record<string, HostileAnswer>>) {
  const server = await hostileServer(() => answers)
  const leases = new MemoryLeases()
  const never = new AbortController().signal
  const vault = memoryVault()
  const at = {
    ...{ url: server.url, paths: server.paths, vault, now: Date.now() },
    get: (refused = '', url = server.url) => getAccessToken({ url, refused }, host, never),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
  const host: LoginHost = {
    vault,
    lock: (name, signal) => leases.take(name, signal),
    hasProxy: false,
    now: () => at.now,
  }
  const login: StoredLogin = {
    url: server.url,
    grant: 'user',
    trusted: [],
    server: {
      address: server.origin,
      metadata: correctMetadata(server),
      resource: server.url,
      scope: 'tools',
    },
    client: { client_id: 'crab' },
    isOwnClient: false,
    redirectUrl: 'http://127.0.0.1:1/callback',
    tokens: {
      ...{ access_token: 'first', token_type: 'bearer', refresh_token: 'refresh-1', scope: 'tools' },
      ...{ receivedAt: at.now, expiresAt: at.now + 3_600_000 },
    },
  }
  await writeLogin(vault, login, never)
  return at
}
