import assert from 'node:assert/strict'
import { get as requestPage } from 'node:http'
import { describe, test } from 'node:test'
import type { ErrorKind } from '../../../src/core/base/errors.ts'
import { type LoginHost, type LoginRequest, logIn } from '../../../src/edge/oauth/log-in.ts'
import {
  correctMetadata,
  type HostileAnswer,
  type HostileServer,
  hostileServer,
  METADATA,
  RESOURCE,
  redirectTo,
  refuseWith,
} from '../../support/oauth/hostile-server.ts'
import { memoryVault } from '../../support/oauth/memory-vault.ts'

/** A trick of an authorization server, and how the login is refused. */
interface Trick {
  title: string
  answers?: (server: HostileServer) => Readonly<Record<string, HostileAnswer>>
  /** Changes the parameters with which the browser returns. */
  answer?: (parameters: URLSearchParams) => void
  request?: (server: HostileServer) => Partial<LoginRequest>
  kind: ErrorKind
  message: RegExp
  /** The time limit of a request, in milliseconds; by default that of the product. */
  timeoutMs?: number
  /** The last path that is requested. */
  last?: string
}

const PUBLIC = 'https://mcp.example.test/mcp'
const as =
  (...names: string[]) =>
  (server: HostileServer) => ({
    [RESOURCE]: { resource: server.url, authorization_servers: names },
  })
const metadata = (changes: object) => (server: HostileServer) => ({
  [METADATA]: { ...correctMetadata(server), ...changes },
})

const TRICKS: readonly Trick[] = [
  {
    title: 'resource metadata over http',
    request: () => ({
      url: PUBLIC,
      challenge: { resourceMetadataUrl: new URL('http://mcp.example.test/x') },
    }),
    kind: 'denied',
    message:
      /^Cannot log in to https:\/\/mcp\.example\.test\/mcp: http:\/\/mcp\.example\.test\/x is not an https address$/,
  },
  {
    title: 'resource metadata on this machine, for a server that is not',
    request: ({ forbidden: { origin } }) => ({
      url: PUBLIC,
      challenge: { resourceMetadataUrl: new URL(origin.replace('http:', 'https:')) },
    }),
    kind: 'denied',
    message: /: https:\/\/127\.0\.0\.1:\d+ is at a loopback address$/,
  },
  {
    title: 'resource metadata of another server',
    answers: ({ origin }) => ({ [RESOURCE]: { resource: PUBLIC, authorization_servers: [origin] } }),
    kind: 'denied',
    message: /its metadata is for another server, https:\/\/mcp\.example\.test\/mcp$/,
    last: RESOURCE,
  },
  {
    title: 'resource metadata that is redirected',
    answers: ({ forbidden }) => ({ [RESOURCE]: redirectTo(`${forbidden.origin}/x`) }),
    kind: 'denied',
    message: /oauth-protected-resource\/mcp redirects to http:\/\/127/,
    last: RESOURCE,
  },
  {
    title: 'an authorization server over http',
    answers: as('http://login.example.test'),
    kind: 'denied',
    message: /http:\/\/login\.example\.test is not an https address/,
    last: RESOURCE,
  },
  ...(
    [
      ['https://10.0.0.1', 'private'],
      ['https://169.254.169.254', 'link-local'],
      ['https://[::ffff:10.0.0.1]', 'mapped'],
      ['https://[64:ff9b::a00:1]', 'private'],
      ['https://0x0a000001/login', 'private'],
      ['https://[fd00::1]', 'private'],
      ['https://0.0.0.0', 'reserved'],
      ['https://inside.example.test', 'private'],
    ] as const
  ).map(
    ([address, name]): Trick => ({
      title: `an authorization server at ${address}`,
      answers: as(address),
      kind: 'denied',
      message: new RegExp(` is at a ${name} address$`),
      last: RESOURCE,
    }),
  ),
  {
    title: 'an authorization server with a user in its address',
    answers: as('https://me:planted@login.example.test'),
    kind: 'denied',
    message: /: https:\/\/login\.example\.test has a user name in its address$/,
    last: RESOURCE,
  },
  {
    title: 'another authorization server than the user wants',
    request: () => ({ issuer: 'https://login.example.test' }),
    kind: 'denied',
    message: /it names the authorization server http:\S+, not https:\/\/login\.example\.test$/,
    last: RESOURCE,
  },
  {
    title: 'an issuer of a project in a private network',
    answers: as('https://10.1.2.3'),
    request: () => ({ issuer: 'https://10.1.2.3' }),
    kind: 'denied',
    message: /https:\/\/10\.1\.2\.3 is at a private address$/,
    last: RESOURCE,
  },
  {
    title: 'an issuer that is not an address',
    request: () => ({ issuer: 'login.example.test', trustsIssuer: true }),
    kind: 'config',
    message: /^Cannot log in to \S+: its issuer must be an address such as/,
  },
  {
    title: 'a foreign issuer in the metadata',
    answers: metadata({ issuer: 'https://login.example.test' }),
    kind: 'denied',
    message: /the answer comes from https:\/\/login\.example\.test instead of http/,
    last: METADATA,
  },
  {
    title: 'metadata that is redirected',
    answers: ({ forbidden }) => ({ [METADATA]: redirectTo(`${forbidden.origin}/x`) }),
    kind: 'denied',
    message: /redirects to http:\/\/127/,
    last: METADATA,
  },
  ...['token_endpoint', 'authorization_endpoint', 'registration_endpoint', 'revocation_endpoint'].map(
    (name): Trick => ({
      title: `${name} over http`,
      answers: metadata({ [name]: 'http://login.example.test/x' }),
      kind: 'denied',
      message: /: http:\/\/login\.example\.test\/x is not an https address$/,
      last: METADATA,
    }),
  ),
  {
    title: 'an address for the browser that is a file',
    answers: metadata({ authorization_endpoint: 'file:///etc/passwd' }),
    kind: 'denied',
    message: /is not an https address$/,
    last: METADATA,
  },
  {
    title: 'an address for the browser that is a script',
    answers: metadata({ authorization_endpoint: 'javascript:alert(1)' }),
    kind: 'failed',
    message: /it sent an answer that cannot be read$/,
    last: METADATA,
  },
  {
    title: 'no PKCE',
    answers: metadata({ code_challenge_methods_supported: ['plain'] }),
    kind: 'denied',
    message: /does not support PKCE with S256$/,
    last: METADATA,
  },
  {
    title: 'metadata that never ends',
    answers: () => ({
      [METADATA]: (_, response) => {
        const piece = Buffer.alloc(64 * 1024, ' ')
        const send = () => response.write(piece, (error) => error ?? setImmediate(send))
        send()
      },
    }),
    kind: 'denied',
    message: /sent more than 1 MiB$/,
    last: METADATA,
  },
  {
    title: 'no answer in time',
    answers: () => ({ [METADATA]: () => {} }),
    kind: 'timeout',
    message: /did not answer within 0\.2 s$/,
    timeoutMs: 200,
    last: METADATA,
  },
  {
    title: 'a page instead of metadata',
    answers: () => ({ [METADATA]: (_, response) => response.end('<html>') }),
    kind: 'failed',
    message: /it sent an answer that cannot be read$/,
  },
  {
    title: 'a failure',
    answers: () => ({ [METADATA]: refuseWith(500, '') }),
    kind: 'failed',
    message: /HTTP 500/,
  },
  {
    title: 'a refused registration',
    answers: () => ({
      '/register': refuseWith(400, { error: 'invalid_redirect_uri', error_description: '\u001b[2Jno' }),
    }),
    kind: 'failed',
    message: /it refuses to register this program \(HTTP 400\): invalid_redirect_uri: \S*no$/,
    last: '/register',
  },
  {
    title: 'no registration',
    answers: metadata({ registration_endpoint: undefined }),
    kind: 'config',
    message: /does not register programs by itself$/,
    last: METADATA,
  },
  {
    title: 'an answer of a foreign issuer',
    answer: (parameters) => parameters.set('iss', 'https://login.example.test'),
    kind: 'denied',
    message: /the answer comes from https:\/\/login\.example\.test instead of/,
    last: '/register',
  },
  {
    title: 'an answer without the issuer that was promised',
    answer: (parameters) => parameters.delete('iss'),
    kind: 'denied',
    message: /an issuer without a name instead of/,
    last: '/register',
  },
  {
    title: 'an error instead of a code',
    answer(parameters) {
      parameters.delete('code')
      parameters.set('error', 'access_denied')
      parameters.set('error_description', 'not\u001b[31m you')
    },
    kind: 'credentials',
    message: /the login was refused \(access_denied: not\S* you\)$/,
    last: '/register',
  },
  {
    title: 'a code that was used before, with the code in the error',
    answers: () => ({
      '/token': ({ body }, response) => {
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: 'invalid_grant', error_description: `used before: ${body}` }))
      },
    }),
    kind: 'credentials',
    message: /it refused \(invalid_grant\): used before: .*\[secret\]/,
    last: '/token',
  },
  {
    title: 'a redirected exchange of the code',
    answers: ({ forbidden }) => ({ '/token': redirectTo(`${forbidden.origin}/token`, 307) }),
    kind: 'denied',
    message: /\/token redirects to http:\/\/127/,
    last: '/token',
  },
  {
    title: 'a token of another kind',
    answers: () => ({ '/token': { access_token: 'planted-access-token', token_type: 'mac' } }),
    kind: 'failed',
    message: /it gave a token that is not a bearer token$/,
    last: '/token',
  },
  {
    title: 'a token with a line break',
    answers: () => ({
      '/token': { access_token: 'planted-access-token\r\nX-Other: 1', token_type: 'Bearer' },
    }),
    kind: 'failed',
    message: /it gave a token that cannot be sent$/,
    last: '/token',
  },
  {
    title: 'no token',
    answers: () => ({ '/token': { token_type: 'Bearer' } }),
    kind: 'failed',
    message: /it sent an answer that cannot be read$/,
    last: '/token',
  },
]

describe('a login refuses', { concurrency: 8 }, () => {
  for (const {
    title,
    answers = () => ({}),
    answer = () => {},
    request,
    kind,
    message,
    last,
    timeoutMs,
  } of TRICKS) {
    test(title, async () => {
      await using server = await hostileServer(answers)
      const items = new Map<string, string>()
      const { url = server.url, ...rest } = request?.(server) ?? {}
      const ask = (address: string) => returnToCallback(address, server, answer)
      const login = logIn({ url, ask, ...rest }, { ...HOST, timeoutMs, vault: memoryVault(items) }, NEVER)
      const reason = await login.then(
        () => assert.fail('it logged in'),
        (error: Error) => error,
      )
      assert.match(reason.message, message)
      assert.equal((reason as Error & { kind: string }).kind, kind, reason.message)
      if (last !== undefined) assert.equal(server.paths.at(-1), last)
      assert.deepEqual([server.forbidden.paths, items.size], [[], 0])
      for (const secret of [...server.secrets, 'planted', '\u001b'])
        assert.ok(!reason.message.includes(secret))
    })
  }
})

test('a login takes one answer, for its own address only, and repeats nothing of it', async () => {
  await using server = await hostileServer(() => ({}))
  const statuses: number[] = []
  const items = new Map<string, string>()
  let visits = Promise.resolve()
  const visit = async (address: string) => {
    const callback = toCallback(address, server)
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(new URL(path, callback), { headers })
      statuses.push(response.status)
      return await response.text()
    }
    await get('/other')
    await get('/callback')
    await get('/callback?code=planted')
    await get('/callback?error=access_denied&state=planted')
    statuses.push(await requestTarget(callback, '//'))
    await fetch(callback, { method: 'POST' }).then(({ status }) => statuses.push(status))
    const first = await get(callback.href)
    assert.doesNotMatch(first, /single-use-code|state/)
    await get(callback.href).catch(() => statuses.push(0)) // it may be closed already
  }
  const ask = async (address: string) => {
    visits = visit(address)
    await visits
    return undefined
  }
  const login = await logIn({ url: server.url, ask }, { ...HOST, vault: memoryVault(items) }, NEVER)
  await visits
  assert.equal(login.tokens?.access_token, 'planted-access-token')
  assert.deepEqual(statuses.slice(0, 7), [404, 404, 404, 404, 404, 404, 200])
  assert.ok(statuses[7] === 404 || statuses[7] === 0)
  assert.equal(server.paths.filter((path) => path === '/token').length, 1)
})

const HOST: Omit<LoginHost, 'vault'> = {
  lock: async () => ({ [Symbol.asyncDispose]: async () => {} }),
  hasProxy: false,
  resolveHost: async (host) => [host.startsWith('inside') ? '192.168.7.7' : '192.0.43.8'],
  now: Date.now,
}
const NEVER = new AbortController().signal

/** Plays the browser of a user who logs in. */
async function returnToCallback(
  address: string,
  server: HostileServer,
  answer: (parameters: URLSearchParams) => void,
): Promise<undefined> {
  const callback = toCallback(address, server)
  answer(callback.searchParams)
  await (await fetch(callback)).text()
}

/** Requests a target that is not the path of any address; returns the status. */
async function requestTarget({ hostname, port }: URL, path: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  requestPage({ hostname, port, path }, (response) => resolve(response.resume().statusCode ?? 0)).on(
    'error',
    reject,
  )
  return await promise
}

function toCallback(address: string, { origin }: HostileServer): URL {
  const { searchParams } = new URL(address)
  const callback = new URL(searchParams.get('redirect_uri')!)
  callback.search = new URLSearchParams({
    code: 'single-use-code',
    state: searchParams.get('state')!,
    iss: origin,
  }).toString()
  return callback
}
