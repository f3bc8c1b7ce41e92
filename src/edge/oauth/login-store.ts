import { CrabError } from '../../core/base/errors.ts'
import { isObject, parseObject } from '../../core/base/json.ts'
import type { AuthorizationServer, LoginClient, LoginTokens } from '../../mcp/oauth/types.ts'
import { toLoginName } from '../credentials/login-name.ts'
import type { Vault } from '../vault/types.ts'

/** A login to an MCP server, as the vault holds it. */
export interface StoredLogin {
  /** The address of the server, without its query. */
  url: string
  /** The grantee of its tokens: a user, or the client itself. */
  grant: 'user' | 'client'
  /** The authorization servers that the user named, which may be in a private network. */
  trusted: readonly string[]
  server: AuthorizationServer
  client: LoginClient
  /** Whether the user registered the client. */
  isOwnClient: boolean
  /** The address to which the browser returns, with which the client is registered; empty without a browser. */
  redirectUrl: string
  /** Undefined after the authorization server has ended the login. */
  tokens?: LoginTokens
}

/** The logins in a vault. */
export type LoginVault = Pick<Vault, 'get' | 'set' | 'remove'>

/** Reads the login of a server; undefined when there is none. Throws as the vault does, or `storage`. */
export async function readLogin(vault: LoginVault, url: string): Promise<StoredLogin | undefined> {
  const text = await vault.get(toLoginName(url))
  if (text === undefined) return undefined
  const value = parseObject(text)
  if (value && value['url'] === url && isObject(value['server']) && isObject(value['client']))
    return value as unknown as StoredLogin
  throw new CrabError('storage', `Cannot use the login to ${url}: its entry in the vault is not valid`, {
    hint: `crabtalk vault remove ${toLoginName(url)}, then log in again`,
  })
}

/** Stores a login, with only those parts of the server's metadata that it needs later. */
export async function writeLogin(vault: LoginVault, login: StoredLogin, signal: AbortSignal): Promise<void> {
  const { server } = login
  const fields: Readonly<Record<string, unknown>> = server.metadata
  const metadata = Object.fromEntries(METADATA.map((name) => [name, fields[name]]))
  const stored = { ...login, server: { ...server, metadata } }
  await vault.set({ [toLoginName(login.url)]: JSON.stringify(stored) }, signal)
}

const METADATA = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'revocation_endpoint',
  'response_types_supported',
  'token_endpoint_auth_methods_supported',
]
