import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  type OAuthProtectedResourceMetadata,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import { toOAuthFailure } from './oauth-error.ts'
import type { OAuthFetch } from './oauth-fetch.ts'
import type { AuthorizationServer, LoginChallenge } from './types.ts'

/** Reads the challenge of a response that refuses access. */
export function readChallenge(response: Response): LoginChallenge {
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) }
}

/** Sends a request without credentials; returns the challenge of the server, or undefined when it has none. */
export async function requestChallenge(
  { url, headers }: { url: string; headers: Readonly<Record<string, string>> },
  { fetch }: OAuthFetch,
): Promise<LoginChallenge | undefined> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })
  return response.status === 401 ? readChallenge(response) : undefined
}

/** The options of `discoverAuthorizationServer()`. */
export interface DiscoverOptions {
  /** The address of the MCP server. */
  url: string
  challenge: LoginChallenge | undefined
  /** The scope that the user wants; by default the one that the server names. */
  scope?: string | undefined
  /** The only authorization server that the user accepts. */
  issuer?: string | undefined
}

/**
 * Finds the authorization server of an MCP server: the one its metadata names (RFC 9728), else the one at its own
 * address; checks that it names itself so (RFC 8414), supports PKCE with S256, and that all its addresses are allowed.
 *
 * Throws `denied` for what a rule refuses, `missing` when the server offers no login, or as an OAuthFetch does.
 */
export async function discoverAuthorizationServer(
  options: DiscoverOptions,
  oauth: OAuthFetch,
): Promise<AuthorizationServer> {
  const { url, challenge, issuer } = options
  const resource = await readResourceMetadata(url, challenge, oauth)
  const named = resource?.authorization_servers ?? []
  const address = pickServer(named.length > 0 ? named : [new URL('/', url).href], issuer)
  await oauth.check(address)
  const metadata = await discoverAuthorizationServerMetadata(address, { fetchFn: oauth.fetch }).catch(rethrow)
  if (!metadata) {
    throw new CrabError(
      'missing',
      named.length > 0 ? `its authorization server ${address} publishes no metadata` : 'it offers no login',
    )
  }
  await checkMetadata(metadata, oauth)
  const scope = options.scope ?? pickScope(challenge, resource, metadata)
  return { address, metadata, resource: resource?.resource, scope }
}

async function readResourceMetadata(
  url: string,
  challenge: LoginChallenge | undefined,
  { fetch, check }: OAuthFetch,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const { resourceMetadataUrl } = challenge ?? {}
  if (resourceMetadataUrl) await check(resourceMetadataUrl)
  const options = resourceMetadataUrl ? { resourceMetadataUrl } : {}
  const found = await discoverOAuthProtectedResourceMetadata(url, options, fetch).catch((reason: unknown) => {
    if (reason instanceof Error && NO_METADATA.test(reason.message)) return undefined
    return rethrow(reason)
  })
  const own = resourceUrlFromServerUrl(url)
  if (found && !checkResourceAllowed({ requestedResource: own, configuredResource: found.resource }))
    throw new CrabError('denied', `its metadata is for another server, ${found.resource}`)
  return found
}

/** The messages of the SDK for a document that does not exist. */
const NO_METADATA = /^(Resource server does not implement OAuth|HTTP \d+ trying to load)/

function pickServer(named: readonly string[], wanted: string | undefined): string {
  if (wanted === undefined) return named[0]!
  const found = named.find((one) => withoutSlash(one) === withoutSlash(wanted))
  if (found !== undefined) return found
  throw new CrabError('denied', `it names the authorization server ${named[0]}, not ${wanted}`)
}

function withoutSlash(address: string): string {
  return address.replace(/\/$/, '')
}

async function checkMetadata(metadata: AuthorizationServerMetadata, { check }: OAuthFetch): Promise<void> {
  const fields: Readonly<Record<string, unknown>> = metadata
  for (const name of ENDPOINTS) {
    const endpoint = fields[name]
    if (typeof endpoint === 'string') await check(endpoint)
  }
  if (!metadata.code_challenge_methods_supported?.includes('S256'))
    throw new CrabError('denied', 'its authorization server does not support PKCE with S256')
}

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint']

/**
 * Picks the scope of the challenge, else all that the server names; adds `offline_access`, without which some
 * authorization servers give no refresh token (MCP 2026-07-28, authorization, scope selection).
 */
function pickScope(
  challenge: LoginChallenge | undefined,
  resource: OAuthProtectedResourceMetadata | undefined,
  { scopes_supported: offered = [] }: AuthorizationServerMetadata,
): string | undefined {
  const scope = challenge?.scope ?? resource?.scopes_supported?.join(' ')
  if (scope === undefined || scope === '') return undefined
  const isOffline = scope.split(' ').includes('offline_access')
  return offered.includes('offline_access') && !isOffline ? `${scope} offline_access` : scope
}

function rethrow(reason: unknown): never {
  throw toOAuthFailure(reason)
}
