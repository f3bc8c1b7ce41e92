import { randomBytes } from 'node:crypto'
import { abortable } from '../../core/base/abortable.ts'
import { withDeadline } from '../../core/base/deadline.ts'
import { CrabError } from '../../core/base/errors.ts'
import { beginLogin, chooseClient, finishLogin, requestClientTokens } from '../../mcp/oauth/authorize.ts'
import { discoverAuthorizationServer, requestChallenge } from '../../mcp/oauth/discover.ts'
import { type OAuthFetchOptions, openOAuthFetch } from '../../mcp/oauth/oauth-fetch.ts'
import type { AuthorizationServer, LoginChallenge, LoginClient, LoginTokens } from '../../mcp/oauth/types.ts'
import { toLoginName, toLoginUrl } from '../credentials/login-name.ts'
import { type LoginCallback, openCallback } from './callback.ts'
import { type LoginVault, readLogin, type StoredLogin, writeLogin } from './login-store.ts'

/** The connection to the network and to the user that a login needs. */
export interface LoginHost extends Pick<OAuthFetchOptions, 'hasProxy' | 'timeoutMs' | 'resolveHost'> {
  vault: LoginVault
  /** Takes the right to change a login, which one process of the home has at a time. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
  /** Milliseconds since 1970. */
  now(): number
}

/** A login to a server. */
export interface LoginRequest {
  /** The address of the server. */
  url: string
  /** The headers that its entry declares. */
  headers?: Readonly<Record<string, string>>
  /** The challenge of the server, if it is known; otherwise the server is asked. */
  challenge?: LoginChallenge
  scope?: string | undefined
  /** The only authorization server that is accepted. */
  issuer?: string | undefined
  /** Whether the user wrote `issuer`, which may then be in a private network; false for that of a project. */
  trustsIssuer?: boolean
  /** The client that the user registered. */
  client?: LoginClient | undefined
  /** The grant of the tokens; `client` needs no browser. */
  grant?: StoredLogin['grant']
  /** The port for the answer of the browser; by default that of the last login, or any free one. */
  port?: number | undefined
  /** Shows the address to the user; resolves with an address that the user pasted, if any. */
  ask(address: string, signal: AbortSignal): Promise<string | undefined>
}

/**
 * Logs in to an MCP server and stores the tokens in the vault. The user has ten minutes.
 *
 * Throws `denied` for what a rule refuses, `config` for an issuer that is not an address, `credentials` when the login is refused, `missing` when the server offers
 * none, or as an OAuthFetch and the vault do.
 */
export async function logIn(
  request: LoginRequest,
  host: LoginHost,
  signal: AbortSignal,
): Promise<StoredLogin> {
  const url = toLoginUrl(request.url)
  try {
    const login = await requestLogin(request, host, signal)
    await using _lease = await host.lock(toLoginName(url), signal)
    await writeLogin(host.vault, login, signal)
    return login
  } catch (reason) {
    if (signal.aborted || !(reason instanceof CrabError) || /^Cannot /.test(reason.message)) throw reason
    const { kind, message, hint } = reason
    throw new CrabError(kind, `Cannot log in to ${url}: ${message}`, { cause: reason, ...(hint && { hint }) })
  }
}

async function requestLogin(
  request: LoginRequest,
  host: LoginHost,
  signal: AbortSignal,
): Promise<StoredLogin> {
  const { headers = {}, scope, issuer, grant = 'user', client: given } = request
  const trusted = listTrusted(request)
  const oauth = openOAuthFetch({ ...host, trusted: [request.url, ...trusted] }, signal)
  const challenge = request.challenge ?? (await requestChallenge({ url: request.url, headers }, oauth))
  const server = await discoverAuthorizationServer({ url: request.url, challenge, scope, issuer }, oauth)
  const common = { url: toLoginUrl(request.url), grant, trusted, server }
  const clock = { oauth, now: host.now }
  if (grant === 'client') {
    if (given?.client_secret === undefined) throw noSecret()
    const tokens = await requestClientTokens({ server, client: given }, clock)
    return { ...common, client: given, isOwnClient: true, redirectUrl: '', tokens }
  }
  const earlier = await readLogin(host.vault, common.url)
  const state = randomBytes(32).toString('base64url')
  await using callback = await openLastPort({ port: request.port, state }, earlier)
  const { redirectUrl } = callback
  const stored = isUsable(earlier, server, redirectUrl) ? earlier.client : undefined
  const client = await chooseClient(server, { given, stored, redirectUrl }, oauth)
  const pending = await beginLogin({ server, client, redirectUrl, state })
  const answer = await waitForAnswer({ request, callback, address: pending.address }, signal)
  const tokens: LoginTokens = await finishLogin(pending, answer, clock)
  const isOwnClient = client === given || (client === stored && earlier?.isOwnClient === true)
  return { ...common, client, isOwnClient, redirectUrl, tokens }
}

/** Lists the authorization servers that may be in a private network. Throws `config` for one without an address. */
function listTrusted({ issuer, trustsIssuer = false }: LoginRequest): string[] {
  if (issuer === undefined) return []
  if (/^https?:\/\//i.test(issuer) && URL.canParse(issuer)) return trustsIssuer ? [issuer] : []
  throw new CrabError('config', 'its issuer must be an address such as https://login.example.com')
}

/** Opens the port of the last login, for which a client is registered, if it is free. */
async function openLastPort(
  { port, state }: { port: number | undefined; state: string },
  earlier: StoredLogin | undefined,
): Promise<LoginCallback> {
  const last = port ?? Number(URL.parse(earlier?.redirectUrl ?? '')?.port ?? 0)
  try {
    return await openCallback({ port: last, state })
  } catch (reason) {
    if (port !== undefined || last === 0) throw reason
    return await openCallback({ port: 0, state })
  }
}

/** Whether the client of an earlier login can be used again at this authorization server. */
function isUsable(
  earlier: StoredLogin | undefined,
  { metadata }: AuthorizationServer,
  redirectUrl: string,
): earlier is StoredLogin {
  if (earlier?.grant !== 'user' || earlier.server.metadata.issuer !== metadata.issuer) return false
  return earlier.isOwnClient || (earlier.redirectUrl === redirectUrl && earlier.tokens !== undefined)
}

interface Waiting {
  request: LoginRequest
  callback: LoginCallback
  address: string
}

/** Waits for the browser, or for the address that the user pastes, whichever is first. */
async function waitForAnswer(
  { request, callback, address }: Waiting,
  signal: AbortSignal,
): Promise<URLSearchParams> {
  const toError = () =>
    new CrabError('timeout', `the browser did not come back within ${LIMIT_MS / 60_000} minutes`)
  return await withDeadline(
    async (soon) => {
      const done = new AbortController()
      const both = AbortSignal.any([soon, done.signal])
      const pasted = request.ask(address, both).then((text) => {
        return text === undefined ? new Promise<never>(() => {}) : readPasted(text)
      })
      try {
        return await abortable(Promise.race([callback.answer, pasted]), soon)
      } finally {
        done.abort()
        pasted.catch(() => undefined) // no longer needed
      }
    },
    { ms: LIMIT_MS, toError },
    signal,
  )
}

function readPasted(text: string): URLSearchParams {
  const url = URL.parse(text.trim())
  const parameters = url?.searchParams ?? new URLSearchParams()
  if (parameters.has('code') || parameters.has('error')) return parameters
  throw new CrabError('usage', 'the pasted text is not the address of the page after the login', {
    hint: 'it begins with http://127.0.0.1 and has code= in it',
  })
}

function noSecret(): CrabError {
  return new CrabError('usage', 'client credentials need an id and a secret', {
    hint: 'give --client-id and --client-secret',
  })
}

const LIMIT_MS = 600_000
