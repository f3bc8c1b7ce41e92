import type { ParsedOptions } from '../../cli/command.ts'
import { CrabError } from '../../core/base/errors.ts'
import { REDACTED } from '../../core/base/secrets/redact.ts'
import { findMcpEntry } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import { isLoginHelper } from '../../mcp/helper-program.ts'
import { readAgentOption } from './change.ts'
import { readServers } from './servers.ts'

/** The server of a login. */
export interface LoginTarget {
  url: string
  /** Its entry in the agent's file; undefined for an address. */
  entry: McpEntry | undefined
}

/** The helper that prints the token of a login; its address comes from the environment. */
export const LOGIN_HELPER = ['crabtalk', 'mcp', 'token']

/** Returns the address in a word, if it is one. */
export function readAddress(word: string): string | undefined {
  return /^https?:\/\//i.test(word) ? URL.parse(word)?.href : undefined
}

/**
 * Finds a remote server by its name or address. Throws `missing` for an unknown name, and `config` for a program or a
 * server whose address is hidden.
 */
export async function findLoginTarget(
  dispatch: Dispatch,
  options: ParsedOptions,
  signal: AbortSignal,
): Promise<LoginTarget> {
  const [word = ''] = options.args
  const address = readAddress(word)
  if (address !== undefined) return { url: address, entry: undefined }
  const agent = readAgentOption(options)
  const entries = (await readServers(dispatch, agent, signal)).map(({ entry }) => entry)
  const entry = findMcpEntry(agent, entries, word)
  if (entry.url === undefined) throw refused(word, 'it is a program, not a remote server')
  const { origin, pathname, host } = new URL(entry.url)
  if (decodeURI(host + pathname).includes(REDACTED)) throw refused(word, 'its address holds a secret')
  return { url: origin + pathname, entry }
}

/** Throws `config` for an entry that has other credentials. */
export function refuseOtherCredentials({ name, auth, auth_helper: helper, headers = {} }: McpEntry): void {
  const header = Object.keys(headers).find((one) => one.toLowerCase() === 'authorization')
  if (auth !== undefined) throw refused(name, 'its entry has a token', `crabtalk mcp set ${name} auth=`)
  if (header !== undefined)
    throw refused(name, `its entry has the header ${header}`, `crabtalk mcp set ${name} headers.${header}=`)
  if (helper !== undefined && !isLoginHelper(helper))
    throw refused(name, 'its entry has an auth_helper', `crabtalk mcp set ${name} auth_helper=`)
}

function refused(name: string, why: string, hint?: string): CrabError {
  return new CrabError('config', `Cannot log in to ${name}: ${why}`, hint === undefined ? {} : { hint })
}
