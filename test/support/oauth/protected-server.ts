import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Provider } from 'oidc-provider'
import { type Listener, listen } from '../mcp/http/listener.ts'
import { type Arrival, type ScriptedServer, scriptedServer, sendJson } from '../mcp/http/scripted-server.ts'

/** An MCP server over Streamable HTTP that requires tokens of a real authorization server, both on loopback. */
export interface ProtectedServer extends AsyncDisposable {
  /** The address of the MCP server. */
  readonly url: string
  readonly issuer: string
  readonly mcp: ScriptedServer
  /** The requests to the authorization server, as `VERB /path`, in order. */
  readonly requests: readonly string[]
  /** The tokens that it has accepted, in order, without repetition. */
  readonly tokens: readonly string[]
  /** The grants of the tokens that it gave, in order. */
  readonly tokenGrants: readonly string[]
  /** Refuses the tokens that it has accepted so far. */
  refuseTokens(): void
  /** Refuses these tokens, and every refresh token that was given so far. */
  endLogins(): Promise<void>
}

/** The options of `protectedServer()`. */
export interface ProtectedOptions {
  /** The lifetime of access tokens, in seconds; by default an hour. */
  lifetime?: number
  /** Clients that are registered already. */
  clients?: readonly object[]
  /** Whether programs can register themselves; by default they can. */
  registers?: boolean
}

/** Starts both servers. The authorization server asks nothing: each login is granted. */
export async function protectedServer(options: ProtectedOptions = {}): Promise<ProtectedServer> {
  const requests: string[] = []
  const tokens: string[] = []
  const tokenGrants: string[] = []
  const refused = new Set<string>()
  let serve: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const listener: Listener = await listen((request, response) => {
    requests.push(`${request.method} ${request.url?.replace(/\?.*/, '')}`)
    serve(request, response)
  })
  const issuer = listener.origin
  const mcp: ScriptedServer = await scriptedServer({ play: (arrival, response) => guard(arrival, response) })
  const provider = new Provider(issuer, configuration(mcp.url, options))
  const refreshTokens: { destroy(): Promise<void> }[] = []
  provider.on('refresh_token.saved', (token: (typeof refreshTokens)[0]) => refreshTokens.push(token))
  provider.on('grant.success', ({ oidc }: { oidc: { params: { grant_type: string } } }) => {
    tokenGrants.push(oidc.params.grant_type)
  })
  const refuseTokens = () => {
    for (const token of tokens) refused.add(token)
  }
  serve = (request, response) => {
    if (request.url?.startsWith('/interaction/')) return void grant(provider, mcp.url, request, response)
    provider.callback()(request, response)
  }

  async function guard(arrival: Arrival, response: ServerResponse): Promise<boolean> {
    if (arrival.path === METADATA_PATH) {
      sendJson(response, { resource: mcp.url, authorization_servers: [issuer], scopes_supported: ['tools'] })
      return true
    }
    const [, token = ''] = /^Bearer (\S+)$/.exec(arrival.headers.authorization ?? '') ?? []
    const find = async () =>
      (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token))
    const known = token === '' || refused.has(token) ? undefined : await find()
    if (known && !known.isExpired) {
      if (!tokens.includes(token)) tokens.push(token)
      return false
    }
    response.setHeader('www-authenticate', `Bearer resource_metadata="${mcp.origin}${METADATA_PATH}"`)
    sendJson(response, { error: 'invalid_token' }, 401)
    return true
  }

  return {
    url: mcp.url,
    issuer,
    mcp,
    requests,
    tokens,
    tokenGrants,
    refuseTokens,
    async endLogins() {
      refuseTokens()
      for (const token of refreshTokens) await token.destroy()
    },
    async [Symbol.asyncDispose]() {
      await mcp[Symbol.asyncDispose]()
      await listener[Symbol.asyncDispose]()
    },
  }
}

/** Follows a login as a browser does, with cookies; returns the address of the page on which it ends. */
export async function browse(address: string, isLast: (url: URL) => boolean): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = new URL(address)
  for (let step = 0; step < 20; step++) {
    if (isLast(url)) return url
    const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    const page = await response.text()
    if (location === null)
      throw new Error(`${url.pathname} answered ${response.status}: ${page.slice(0, 500)}`)
    url = new URL(location, url)
  }
  throw new Error('the login does not end')
}

function configuration(
  resource: string,
  { lifetime = 3600, clients = [], registers = true }: ProtectedOptions,
) {
  const info = { scope: 'tools', audience: resource, accessTokenFormat: 'opaque', accessTokenTTL: lifetime }
  return {
    clients,
    scopes: ['openid', 'offline_access', 'tools'],
    cookies: { keys: [randomBytes(16).toString('hex')] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    findAccount: async (_: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: registers },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => resource,
        getResourceServerInfo: async () => info,
        useGrantedResource: async () => true,
      },
    },
  }
}

async function grant(
  provider: Provider,
  resource: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params } = await provider.interactionDetails(request, response)
  const accountId = 'crab'
  if (prompt.name === 'login') {
    const result = { login: { accountId } }
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
  }
  const consent = new provider.Grant({ accountId, clientId: params['client_id'] })
  consent.addOIDCScope('openid offline_access tools')
  consent.addResourceScope(resource, 'tools')
  const result = { consent: { grantId: await consent.save() } }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true })
}

const METADATA_PATH = '/.well-known/oauth-protected-resource/mcp'
