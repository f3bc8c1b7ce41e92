import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
  isStrictScopeSuperset,
  type OAuthClientInformation,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  UnauthorizedError,
} from '@modelcontextprotocol/client'

/** A client that may already be registered with its authorization server. */
export interface Registered {
  client_id?: string
  client_secret?: string
}

/**
 * Returns a `fetch` that signs in where the server requires it, through the SDK's OAuth client, and sends the
 * same request again. A request is challenged once; a second refusal is final. No user is involved, because the
 * authorization server of the suite redirects immediately. The built-in fetch talks to it.
 */
export function withSignIn(fetch: FetchLike, serverUrl: string, registered: Registered): FetchLike {
  const account = new Account(registered)
  return async (url, init) => {
    const first = await fetch(url, account.sign(init))
    if (!isChallenge(first)) return first
    await first.body?.cancel()
    await signIn(account, first, serverUrl)
    const second = await fetch(url, account.sign(init))
    if (isChallenge(second)) throw new UnauthorizedError(`${second.status} although signed in`)
    return second
  }
}

function isChallenge({ status }: Response): boolean {
  return status === 401 || status === 403
}

/**
 * Signs in again after 401, because the authorization server may have changed; after 403, requests the missing
 * scope as well.
 */
async function signIn(account: Account, challenge: Response, serverUrl: string): Promise<void> {
  const { resourceMetadataUrl, scope: asked } = extractWWWAuthenticateParams(challenge)
  const granted = account.tokens()?.scope
  if (challenge.status === 401) account.invalidateCredentials('discovery')
  const scope = challenge.status === 403 ? computeScopeUnion(granted, asked) : asked
  const request = {
    serverUrl,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
  }
  const forceReauthorization = isStrictScopeSuperset(scope, granted)
  if ((await auth(account, { ...request, forceReauthorization })) === 'AUTHORIZED') return
  const { code, iss } = account.redirected()
  await auth(account, { ...request, authorizationCode: code, ...(iss !== undefined && { iss }) })
}

/** The state of the SDK's OAuth client for one server, in memory. */
class Account implements OAuthClientProvider {
  readonly redirectUrl = 'http://localhost:3000/callback'
  readonly clientMetadata = { client_name: 'crabtalk', redirect_uris: [this.redirectUrl] }
  /** The suite treats a client with this URL as one that publishes its own metadata. */
  readonly clientMetadataUrl = 'https://conformance-test.local/client-metadata.json'
  #client: OAuthClientInformation | undefined
  #tokens: OAuthTokens | undefined
  #verifier: string | undefined
  #discovery: OAuthDiscoveryState | undefined
  #location: URL | undefined

  constructor({ client_id, client_secret }: Registered) {
    if (client_id !== undefined)
      this.#client = { client_id, ...(client_secret !== undefined && { client_secret }) }
  }

  sign(init: RequestInit = {}): RequestInit {
    if (this.#tokens === undefined) return init
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${this.#tokens.access_token}`)
    return { ...init, headers }
  }

  /** Returns the answer of the authorization server. */
  redirected(): { code: string; iss: string | undefined } {
    const { searchParams } = this.#location ?? new URL(this.redirectUrl)
    const code = searchParams.get('code')
    if (code === null) throw new UnauthorizedError('the authorization server sent no code')
    return { code, iss: searchParams.get('iss') ?? undefined }
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const { headers } = await fetch(url, { redirect: 'manual' })
    this.#location = new URL(headers.get('location') ?? this.redirectUrl)
  }

  clientInformation(): OAuthClientInformation | undefined {
    return this.#client
  }

  saveClientInformation(client: OAuthClientInformation): void {
    this.#client = client
  }

  tokens(): OAuthTokens | undefined {
    return this.#tokens
  }

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens
  }

  codeVerifier(): string {
    return this.#verifier ?? ''
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'client') this.#client = undefined
    if (scope === 'all' || scope === 'tokens') this.#tokens = undefined
    if (scope === 'all' || scope === 'verifier') this.#verifier = undefined
    if (scope === 'all' || scope === 'discovery') this.#discovery = undefined
  }
}
