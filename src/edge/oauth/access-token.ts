import { CrabError } from '../../core/base/errors.ts'
import { requestClientTokens } from '../../mcp/oauth/authorize.ts'
import { openOAuthFetch } from '../../mcp/oauth/oauth-fetch.ts'
import { refreshTokens } from '../../mcp/oauth/tokens.ts'
import type { LoginTokens } from '../../mcp/oauth/types.ts'
import { hashBearerToken } from '../../mcp/remote/token-hash.ts'
import { toLoginName, toLoginUrl } from '../credentials/login-name.ts'
import type { LoginHost } from './log-in.ts'
import { readLogin, type StoredLogin, writeLogin } from './login-store.ts'

/** The options of `getAccessToken()`. */
export interface AccessTokenOptions {
  /** The address of the server. */
  url: string
  /** The hash of the token that the server refused, as hashBearerToken() returns it; empty when none was. */
  refused: string
}

/** A token for requests to a server. */
export interface AccessToken {
  token: string
  /** Milliseconds since 1970; undefined when it does not expire. */
  expiresAt: number | undefined
}

/**
 * Returns the token of a login, refreshed if it expires soon or was refused: once for all processes of the home.
 *
 * Throws `credentials` when there is no login or it has ended, or as an OAuthFetch and the vault do.
 */
export async function getAccessToken(
  { url: address, refused }: AccessTokenOptions,
  host: LoginHost,
  signal: AbortSignal,
): Promise<AccessToken> {
  const url = toLoginUrl(address)
  const before = await readTokens(host, url)
  if (isFresh(before.tokens, refused, host.now())) return toAccessToken(before.tokens)
  await using _lease = await host.lock(toLoginName(url), signal)
  const login = await readTokens(host, url) // another process may have refreshed it
  if (isFresh(login.tokens, refused, host.now())) return toAccessToken(login.tokens)
  return toAccessToken(await refresh(login, host, signal))
}

type LiveLogin = StoredLogin & { tokens: LoginTokens }

async function readTokens({ vault }: LoginHost, url: string): Promise<LiveLogin> {
  const login = await readLogin(vault, url)
  if (!login) throw needsLogin(url, 'you are not logged in')
  if (!login.tokens) throw needsLogin(url, 'the login has ended')
  return login as LiveLogin
}

/** Whether a token can be used for longer than the daemon waits before it asks for another one (ADR 0113). */
function isFresh(
  { access_token, receivedAt, expiresAt }: LoginTokens,
  refused: string,
  now: number,
): boolean {
  if (refused !== '' && hashBearerToken(access_token) === refused) return false
  if (expiresAt === undefined) return true
  return expiresAt - now > Math.min(MARGIN_MS, (expiresAt - receivedAt) / 2)
}

async function refresh(login: LiveLogin, host: LoginHost, signal: AbortSignal): Promise<LoginTokens> {
  const { url, grant, trusted, server, client } = login
  const oauth = openOAuthFetch({ timeoutMs: REFRESH_MS, ...host, trusted: [url, ...trusted] }, signal)
  const clock = { oauth, now: host.now }
  try {
    const tokens =
      grant === 'client'
        ? await requestClientTokens({ server, client }, clock)
        : await refreshTokens(login, clock)
    await writeLogin(host.vault, { ...login, tokens }, signal)
    return tokens
  } catch (reason) {
    if (signal.aborted || !(reason instanceof CrabError) || /^Cannot /.test(reason.message)) throw reason
    if (reason.kind !== 'credentials')
      throw new CrabError(reason.kind, `Cannot refresh the login to ${url}: ${reason.message}`, {
        cause: reason,
      })
    const { tokens: _, ...ended } = login
    await writeLogin(host.vault, ended, signal) // so that it is not asked for again and again
    throw needsLogin(url, `the login has ended: ${reason.message}`)
  }
}

function toAccessToken({ access_token: token, expiresAt }: LoginTokens): AccessToken {
  return { token, expiresAt }
}

function needsLogin(url: string, why: string): CrabError {
  return new CrabError('credentials', `Cannot use ${url}: ${why}`, { hint: 'crabtalk mcp login NAME' })
}

/** Longer than the minute before the end in which the daemon asks for a new token. */
const MARGIN_MS = 90_000
/** Shorter than the ten seconds that an auth helper has. */
const REFRESH_MS = 8_000
