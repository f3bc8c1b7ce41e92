import { type OAuthTokens, refreshAuthorization, selectClientAuthMethod } from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import { validateHeader } from '../remote/header-rules.ts'
import { toOAuthFailure } from './oauth-error.ts'
import type { OAuthFetch } from './oauth-fetch.ts'
import type { AuthorizationServer, LoginClient, LoginTokens } from './types.ts'

/** Adds the times to tokens. Throws `failed` for tokens that cannot be sent as a bearer token. */
export function toLoginTokens(tokens: OAuthTokens, receivedAt: number): LoginTokens {
  if (!/^bearer$/i.test(tokens.token_type))
    throw new CrabError('failed', 'it gave a token that is not a bearer token')
  if (!/^[\x21-\x7e]+$/.test(tokens.access_token) || validateHeader('Authorization', tokens.access_token))
    throw new CrabError('failed', 'it gave a token that cannot be sent')
  const { expires_in: seconds } = tokens
  const hasEnd = seconds !== undefined && Number.isFinite(seconds)
  return { ...tokens, receivedAt, ...(hasEnd && { expiresAt: receivedAt + seconds * 1000 }) }
}

/** A server, a client that is known there, and its tokens. */
export interface GrantedLogin {
  server: AuthorizationServer
  client: LoginClient
  tokens: LoginTokens
}

/**
 * Exchanges a refresh token for new tokens; the old refresh token stays if there is no new one.
 *
 * Throws `credentials` when the login has ended, or as an OAuthFetch does.
 */
export async function refreshTokens(
  { server, client, tokens }: GrantedLogin,
  { oauth, now }: { oauth: OAuthFetch; now: () => number },
): Promise<LoginTokens> {
  const { refresh_token: refreshToken, scope } = tokens
  if (refreshToken === undefined)
    throw new CrabError('credentials', 'its token expired, and there is no refresh token')
  const { address, metadata, resource } = server
  try {
    const fresh = await refreshAuthorization(address, {
      metadata,
      clientInformation: client,
      refreshToken,
      ...(resource !== undefined && { resource }),
      fetchFn: oauth.fetch,
    })
    return toLoginTokens({ ...(scope !== undefined && { scope }), ...fresh }, now())
  } catch (reason) {
    throw toOAuthFailure(reason, [refreshToken, client.client_secret, tokens.access_token])
  }
}

/**
 * Revokes the refresh token, then the access token (RFC 7009). Returns false when the authorization server cannot
 * revoke tokens. Throws as an OAuthFetch does, or `failed`.
 */
export async function revokeTokens(
  { server, client, tokens }: GrantedLogin,
  { fetch }: OAuthFetch,
): Promise<boolean> {
  const { revocation_endpoint: endpoint }: Readonly<Record<string, unknown>> = server.metadata
  if (typeof endpoint !== 'string') return false
  const { refresh_token, access_token } = tokens
  try {
    for (const [hint, token] of Object.entries({ refresh_token, access_token })) {
      if (token === undefined) continue
      const { headers, body } = authenticate(server, client, { token, token_type_hint: hint })
      const { ok, status } = await fetch(endpoint, { method: 'POST', headers, body })
      if (!ok) throw new CrabError('failed', `it answered HTTP ${status} at its revocation endpoint`)
    }
    return true
  } catch (reason) {
    throw toOAuthFailure(reason, [refresh_token, access_token, client.client_secret])
  }
}

/** Adds the id of the client to a form, with its secret where the server wants it (RFC 6749, section 2.3.1). */
function authenticate(
  { metadata }: AuthorizationServer,
  client: LoginClient,
  form: Readonly<Record<string, string>>,
): { headers: Record<string, string>; body: string } {
  const { client_id: id, client_secret: secret = '' } = client
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  const method = selectClientAuthMethod(client, metadata.token_endpoint_auth_methods_supported ?? [])
  if (method === 'client_secret_basic') {
    const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
    return { headers: { ...headers, authorization }, body: new URLSearchParams(form).toString() }
  }
  const own = { client_id: id, ...(method === 'client_secret_post' && { client_secret: secret }) }
  return { headers, body: new URLSearchParams({ ...form, ...own }).toString() }
}
