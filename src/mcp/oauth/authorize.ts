import { timingSafeEqual } from 'node:crypto'
import {
  exchangeAuthorization,
  fetchToken,
  type OAuthClientMetadata,
  registerClient,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import { toPrintableLine } from '../tools/server-text.ts'
import { toOAuthFailure } from './oauth-error.ts'
import type { OAuthFetch } from './oauth-fetch.ts'
import { toLoginTokens } from './tokens.ts'
import type { AuthorizationServer, LoginClient, LoginTokens } from './types.ts'

/** The clients that can be used, the best first. */
export interface ClientChoices {
  /** The client that the user registered; an https address is that of a client-id metadata document. */
  given: LoginClient | undefined
  /** The client of an earlier login with the same redirect address and authorization server. */
  stored: LoginClient | undefined
  redirectUrl: string
}

/**
 * Returns the client to log in with, after registering this program if necessary (RFC 7591).
 *
 * Throws `config` when the authorization server takes registered clients only, or as an OAuthFetch does.
 */
export async function chooseClient(
  server: AuthorizationServer,
  { given, stored, redirectUrl }: ClientChoices,
  { fetch }: OAuthFetch,
): Promise<LoginClient> {
  const { metadata, address, scope } = server
  const isDocument = given?.client_id.startsWith('https://') ?? false
  const takesDocuments = metadata.client_id_metadata_document_supported === true
  if (given && (!isDocument || takesDocuments)) return given
  if (stored) return stored
  if (metadata.registration_endpoint === undefined) {
    throw new CrabError('config', `${address} does not register programs by itself`, {
      hint: 'create an OAuth app there, and give its id with --client-id',
    })
  }
  const registration = { metadata, clientMetadata: describeClient(server, redirectUrl), fetchFn: fetch }
  try {
    return await registerClient(address, { ...registration, ...(scope !== undefined && { scope }) })
  } catch (reason) {
    throw toOAuthFailure(reason)
  }
}

function describeClient({ metadata }: AuthorizationServer, redirectUrl: string): OAuthClientMetadata {
  const offered = metadata.token_endpoint_auth_methods_supported ?? []
  const method = ['none', 'client_secret_basic', 'client_secret_post'].find((one) => offered.includes(one))
  return {
    client_name: 'crabtalk',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: 'native',
    ...(method !== undefined && { token_endpoint_auth_method: method }),
  }
}

/** A login that waits for the user. */
export interface PendingLogin {
  server: AuthorizationServer
  client: LoginClient
  redirectUrl: string
  /** The value that the answer must have. */
  state: string
  /** The address that the user opens in a browser. */
  address: string
  verifier: string
}

/** Begins a login with PKCE: returns the address for the browser, and what finishLogin() needs. */
export async function beginLogin({
  server,
  client,
  redirectUrl,
  state,
}: Pick<PendingLogin, 'server' | 'client' | 'redirectUrl' | 'state'>): Promise<PendingLogin> {
  const { metadata, resource, scope } = server
  const request = { metadata, clientInformation: client, redirectUrl, state }
  const optional = { ...(scope !== undefined && { scope }), ...(resource !== undefined && { resource }) }
  try {
    const { authorizationUrl, codeVerifier } = await startAuthorization(server.address, {
      ...request,
      ...optional,
    })
    return { server, client, redirectUrl, state, address: authorizationUrl.href, verifier: codeVerifier }
  } catch (reason) {
    throw toOAuthFailure(reason)
  }
}

/**
 * Redeems the answer of the browser for tokens: checks the state, then the issuer (RFC 9207), then what it says.
 *
 * Throws `denied` for an answer that does not belong to this login, `credentials` when the login was refused, or as
 * an OAuthFetch does.
 */
export async function finishLogin(
  { server, client, redirectUrl, state, verifier }: PendingLogin,
  answer: URLSearchParams,
  { oauth, now }: { oauth: OAuthFetch; now: () => number },
): Promise<LoginTokens> {
  if (!isSame(answer.get('state') ?? '', state))
    throw new CrabError('denied', 'the answer does not belong to this login: its state is another one')
  const { metadata, address, resource } = server
  const iss = answer.get('iss') ?? undefined
  const code = answer.get('code') ?? ''
  try {
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata.issuer,
      issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
    })
    if (code === '') throw toRefusal(answer)
    const request = { metadata, clientInformation: client, authorizationCode: code, codeVerifier: verifier }
    const tokens = await exchangeAuthorization(address, {
      ...request,
      redirectUri: redirectUrl,
      ...(iss !== undefined && { iss }),
      ...(resource !== undefined && { resource }),
      fetchFn: oauth.fetch,
    })
    return toLoginTokens(tokens, now())
  } catch (reason) {
    throw toOAuthFailure(reason, [code, verifier, client.client_secret])
  }
}

/** Requests tokens for the client itself, without a user (RFC 6749, section 4.4). */
export async function requestClientTokens(
  { server, client }: Pick<PendingLogin, 'server' | 'client'>,
  { oauth, now }: { oauth: OAuthFetch; now: () => number },
): Promise<LoginTokens> {
  const { metadata, address, resource, scope } = server
  const parameters = { grant_type: 'client_credentials', ...(scope !== undefined && { scope }) }
  try {
    const tokens = await fetchToken(
      {
        redirectUrl: undefined,
        clientMetadata: { redirect_uris: [] },
        clientInformation: () => ({ ...client, issuer: metadata.issuer }),
        prepareTokenRequest: () => new URLSearchParams(parameters),
        tokens: () => undefined,
        saveTokens: () => {},
        redirectToAuthorization: () => {},
        saveCodeVerifier: () => {},
        codeVerifier: () => '',
      },
      address,
      { metadata, ...(resource !== undefined && { resource: new URL(resource) }), fetchFn: oauth.fetch },
    )
    return toLoginTokens(tokens, now())
  } catch (reason) {
    throw toOAuthFailure(reason, [client.client_secret])
  }
}

function toRefusal(answer: URLSearchParams): CrabError {
  const error = answer.get('error')
  if (error === null) return new CrabError('denied', 'the answer has neither a code nor an error')
  const words = answer.get('error_description')
  const text = toPrintableLine(words === null ? error : `${error}: ${words}`)
  return new CrabError('credentials', `the login was refused (${text})`)
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
