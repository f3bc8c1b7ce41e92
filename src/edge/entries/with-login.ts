import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { toLoginName, toLoginUrl } from '../credentials/login-name.ts'
import type { CredentialResolver } from '../credentials/types.ts'
import type { EdgeServer } from './types.ts'

/**
 * Gives a remote server without credentials the helper that prints the token of its login, if the vault has one. A
 * vault that cannot be opened has none: the server then says itself that it needs a login.
 */
export async function withLogin(
  { oauth }: Pick<EdgeServer, 'oauth'>,
  entry: JsonObject,
  resolver: CredentialResolver,
): Promise<JsonObject> {
  const { url, auth, auth_helper: helper, headers } = entry
  const names = isObject(headers) ? Object.keys(headers).map((name) => name.toLowerCase()) : []
  const hasOwn = auth !== undefined || helper !== undefined || names.includes('authorization')
  if (oauth === 'off' || hasOwn || typeof url !== 'string' || !URL.canParse(url)) return entry
  const found = await resolver.find(toLoginName(toLoginUrl(url))).catch((reason: unknown) => {
    if (reason instanceof CrabError) return undefined
    throw reason
  })
  return found?.source.kind === 'vault' ? { ...entry, auth_helper: ['crabtalk', 'mcp', 'token'] } : entry
}
