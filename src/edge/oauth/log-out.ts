import { CrabError } from '../../core/base/errors.ts'
import { openOAuthFetch } from '../../mcp/oauth/oauth-fetch.ts'
import { revokeTokens } from '../../mcp/oauth/tokens.ts'
import { toLoginName, toLoginUrl } from '../credentials/login-name.ts'
import type { LoginHost } from './log-in.ts'
import { readLogin } from './login-store.ts'

/** The result of a logout. */
export interface Logout {
  /** Whether there was a login. */
  wasLoggedIn: boolean
  /** The reason why the tokens stay valid until they expire; undefined when they were revoked. */
  notRevoked: string | undefined
}

/** Revokes the tokens of a login and removes it from the vault, also when they cannot be revoked. */
export async function logOut(address: string, host: LoginHost, signal: AbortSignal): Promise<Logout> {
  const url = toLoginUrl(address)
  await using _lease = await host.lock(toLoginName(url), signal)
  const login = await readLogin(host.vault, url)
  if (!login) return { wasLoggedIn: false, notRevoked: undefined }
  const { tokens, trusted } = login
  let notRevoked: string | undefined
  if (tokens) {
    const oauth = openOAuthFetch({ ...host, trusted: [url, ...trusted] }, signal)
    const revoked = await revokeTokens({ ...login, tokens }, oauth).catch((reason: unknown) => {
      if (signal.aborted || !(reason instanceof CrabError)) throw reason
      notRevoked = reason.message
      return true
    })
    if (!revoked) notRevoked = 'its authorization server cannot revoke tokens'
  }
  await host.vault.remove(toLoginName(url), signal)
  return { wasLoggedIn: true, notRevoked }
}
