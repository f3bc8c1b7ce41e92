import type { ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { REDACTED } from '../../core/base/secrets/redact.ts'
import { findMcpEntry } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import { hasServerFiles } from '../../edge/entries/has-server-files.ts'
import { findSessionServers } from '../../edge/entries/session-servers.ts'
import type { ServerScope } from '../../edge/entries/types.ts'
import { isLoginHelper } from '../../mcp/helper-program.ts'
import { openResolver, toSessionPlace } from '../session-servers.ts'
import { readAgentOption } from './change.ts'
import { readServers } from './servers.ts'

/** The server of a login. */
export interface LoginTarget {
  url: string
  /** Its entry in the agent's file; undefined for an address, and for a server of a conversation. */
  entry: McpEntry | undefined
  /** The `oauth_config` of a server of mcp.toml. */
  config?: JsonObject | undefined
  /** The file that has `config`: the user's own, or one of the project. */
  configScope?: ServerScope | undefined
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
  { options, host }: { options: ParsedOptions; host: Host },
  signal: AbortSignal,
): Promise<LoginTarget> {
  const [word = ''] = options.args
  const address = readAddress(word)
  if (address !== undefined) return { url: address, entry: undefined }
  const agent = readAgentOption(options)
  const entries = (await readServers(dispatch, agent, signal)).map(({ entry }) => entry)
  const session = entries.some(({ name }) => name === word) ? undefined : await findSessionTarget(word, host)
  if (session) return session
  const entry = findMcpEntry(agent, entries, word)
  if (entry.url === undefined) throw refused(word, 'it is a program, not a remote server')
  const { origin, pathname, host: server } = new URL(entry.url)
  if (decodeURI(server + pathname).includes(REDACTED)) throw refused(word, 'its address holds a secret')
  return { url: origin + pathname, entry }
}

/** Finds a remote server that conversations in this directory get from mcp.toml; undefined when there is none. */
async function findSessionTarget(name: string, host: Host): Promise<LoginTarget | undefined> {
  const place = toSessionPlace(host)
  if (!hasServerFiles(place)) return undefined
  const { servers } = await findSessionServers(place, openResolver(host))
  const found = servers.find(({ server, state }) => server.name === name && state === 'ready')
  const url = found?.entry?.url
  if (found === undefined || url === undefined) return undefined
  const { oauthConfig: config, scope: configScope } = found.server
  return { url, entry: undefined, config, configScope }
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
