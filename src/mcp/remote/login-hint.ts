import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import type { RemoteTarget } from '../fingerprint.ts'
import { isLoginHelper } from '../helper-program.ts'

/** The command that logs in, without the name of the server. */
export const LOGIN_COMMAND = 'crabtalk mcp login'

/** The ways in which a server may be authenticated to. */
export type Authentication = 'none' | 'token' | 'credentials' | 'login'

/** Returns how the requests to a server are authenticated. */
export function findAuthentication({ url, auth, authHelper, headers }: RemoteTarget): Authentication {
  if (isLoginHelper(authHelper)) return 'login'
  if (auth !== undefined || authHelper !== undefined) return 'token'
  const hasHeader = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  return hasHeader || (URL.parse(url)?.username ?? '') !== '' ? 'credentials' : 'none'
}

/** Returns what to do when a server refuses its credentials; LOGIN_COMMAND when a login may help. */
export function adviseCredentials(target: RemoteTarget): string {
  return ADVICE[findAuthentication(target)]
}

const ADVICE: Record<Authentication, string> = {
  none: LOGIN_COMMAND,
  login: LOGIN_COMMAND,
  token: 'give it a valid token',
  credentials: 'give it valid credentials',
}

/** Completes the advice to log in with the server, and with its agent unless that is the default. */
export function toLoginCommand(server: string, agent: string): string {
  return `${LOGIN_COMMAND} ${server}${agent === DEFAULT_AGENT ? '' : ` -a ${agent}`}`
}
