import type { Host } from '../../cli/host.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { REDACTED } from '../../core/base/secrets/redact.ts'
import { findMcpEntry } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { McpActionKind } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { hasServerFiles } from '../../edge/entries/has-server-files.ts'
import { findSessionServers } from '../../edge/entries/session-servers.ts'
import type { ServerScope, SessionPlace } from '../../edge/entries/types.ts'
import type { LoginRequest } from '../../edge/oauth/log-in.ts'
import { isLoginHelper } from '../../mcp/helper-program.ts'
import { openResolver, toSessionPlace } from '../session-servers.ts'
import { requireFileEntry } from './file-servers.ts'
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
  { word, agent, host, cwd }: { word: string; agent: string; host: Host; cwd?: string },
  signal: AbortSignal,
): Promise<LoginTarget> {
  const address = readAddress(word)
  if (address !== undefined) return { url: address, entry: undefined }
  const entries = (await readServers(dispatch, agent, signal)).map(({ entry }) => entry)
  const session = entries.some(({ name }) => name === word)
    ? undefined
    : await findSessionTarget(word, toSessionPlace(host, cwd), host)
  if (session) return session
  const entry = findMcpEntry(agent, entries, word)
  if (entry.url === undefined) throw refused(word, IS_PROGRAM)
  const { origin, pathname, host: server } = new URL(entry.url)
  if (decodeURI(server + pathname).includes(REDACTED)) throw refused(word, 'its address holds a secret')
  return { url: origin + pathname, entry }
}

/** Returns what the `oauth_config` of a server of mcp.toml says about its login. */
export function toConfiguredLogin({
  url,
  config = {},
  configScope,
}: LoginTarget): Pick<LoginRequest, 'url' | 'client' | 'scope' | 'issuer' | 'trustsIssuer' | 'port'> {
  const { client_id: id, scope, issuer, port } = config
  return {
    url,
    client: typeof id === 'string' ? { client_id: id } : undefined,
    scope: typeof scope === 'string' ? scope : undefined,
    issuer: issuer === undefined ? undefined : String(issuer),
    trustsIssuer: configScope === 'user',
    port: typeof port === 'number' ? port : undefined,
  }
}

/** Writes the helper into the entry, and connects. Returns the number of tools; undefined for a disabled one. */
export async function applyLogin(
  dispatch: Dispatch,
  { entry, agent }: { entry: McpEntry; agent: string },
  signal: AbortSignal,
): Promise<number | undefined> {
  const { name } = entry
  if (entry.auth_helper === undefined) {
    const config = JSON.stringify({ ...entry, auth_helper: LOGIN_HELPER })
    await request(dispatch, 'upsertMcp', { agent, config, verify: false, create: false }, signal)
  }
  if (entry.disabled) return undefined
  try {
    return await reconnect(dispatch, { agent, name }, signal)
  } catch (reason) {
    const { kind, message, hint } = toCrabError(reason)
    if (kind === 'cancelled') throw reason
    throw new CrabError(kind, `${message} (the login itself worked)`, {
      cause: reason,
      ...(hint && { hint }),
    })
  }
}

/** Connects a server again; returns the number of its tools. */
export async function reconnect(
  dispatch: Dispatch,
  at: { agent: string; name: string },
  signal: AbortSignal,
): Promise<number> {
  const action = { ...at, action: McpActionKind.RECONNECT }
  return (await request(dispatch, 'mcpAction', action, signal)).peer?.toolCount ?? 0
}

const IS_PROGRAM = 'it is a program, not a remote server'

/** Finds a server that conversations in this directory get from a file; undefined when no file has it. Throws `config` for one that cannot be logged in to. */
async function findSessionTarget(
  name: string,
  place: SessionPlace,
  host: Host,
): Promise<LoginTarget | undefined> {
  if (!hasServerFiles(place)) return undefined
  const { servers } = await findSessionServers(place, openResolver(host))
  const found = servers.find(({ server }) => server.name === name)
  if (!found) return undefined
  const { url } = requireFileEntry(found)
  if (url === undefined) throw refused(name, IS_PROGRAM)
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
