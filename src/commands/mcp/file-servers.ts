import type { ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { CrabError } from '../../core/base/errors.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { type McpEntry, mcpEntry } from '../../core/config/mcp-entry.ts'
import { checkValue } from '../../core/config/schema.ts'
import { redactEntry } from '../../core/config/secrets.ts'
import { renderToml } from '../../core/config/toml-render.ts'
import { type McpPeer, McpPeerState } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { summarizeServer } from '../../edge/entries/describe-server.ts'
import { hasServerFiles } from '../../edge/entries/has-server-files.ts'
import type { SessionServer } from '../../edge/entries/session-servers.ts'
import type { EdgeServer } from '../../edge/entries/types.ts'
import { inferTransport } from '../../mcp/entry-facts.ts'
import { openResolver, toSessionPlace } from '../session-servers.ts'
import { stateName } from './servers.ts'

interface Invocation {
  options: ParsedOptions
  host: Host
}

/**
 * Returns the server of mcp.toml or .mcp.json that a name means: that of `--scope`, else one that the agent does not
 * have itself. Undefined when the name is left to the agent. Throws `missing` for a name that `--scope` does not have.
 */
export async function findFileServer(
  name: string,
  { options, host }: Invocation,
  own: readonly { name: string }[],
): Promise<SessionServer | undefined> {
  const scope = options.value('scope')
  if (scope === undefined && own.some((entry) => entry.name === name)) return undefined
  const servers = await listFileServers({ options, host })
  const found = servers.find(({ server }) => server.name === name)
  if (found || scope === undefined) return found
  const names = servers.map(({ server }) => server.name)
  throw new CrabError('missing', `Cannot find the MCP server "${name}": no file of --scope ${scope} has it`, {
    hint:
      didYouMean(name, names) ??
      (names.length === 0 ? 'they have no servers' : `they have ${names.join(', ')}`),
  })
}

/** Returns the servers of the files that count in this directory, or those of `--scope`. Starts none. */
export async function listFileServers({ options, host }: Invocation): Promise<readonly SessionServer[]> {
  const scope = options.value('scope')
  const place = toSessionPlace(host)
  if (!hasServerFiles(place)) return []
  const { findSessionServers, resolveServer } = await import('../../edge/entries/session-servers.ts')
  const resolver = openResolver(host)
  const { servers, replaced, projectDir } = await findSessionServers(place, resolver)
  if (scope === undefined) return servers
  const context = { resolver, projectDir, env: host.env }
  const hidden = replaced.filter(({ server, by }) => server.scope === scope && by.scope !== scope)
  const resolved = await Promise.all(hidden.map(({ server }) => resolveServer(server, context)))
  return [...servers.filter(({ server }) => server.scope === scope), ...resolved]
}

/** Returns the literal entry of such a server. Throws `config` for one that cannot be used, with the reason. */
export function requireFileEntry({ server, state, entry, reason, hint }: SessionServer): McpEntry {
  if (entry) return entry
  const isOff = state === 'disabled'
  const ofFile = state === 'untrusted' ? `it is a server of ${server.file}, and ${reason}` : reason
  const why = isOff ? `it is disabled in ${server.file}` : ofFile
  const advice = isOff ? toEnableAdvice(server) : hint
  throw new CrabError(
    'config',
    `Cannot use the MCP server "${server.name}": ${why}`,
    advice === undefined ? {} : { hint: advice },
  )
}

/** An entry that a .mcp.json disables itself is not changed by commands, which write mcp.toml. */
function toEnableAdvice({ file, scope, name }: EdgeServer): string {
  return file.endsWith('.json') ? `change "disabled" there` : `crabtalk mcp enable --scope ${scope} ${name}`
}

/** Returns the literal entry, as JSON for an action, of a server that is not the agent's; empty for the agent's own. */
export async function readFileEntry(
  dispatch: Dispatch,
  { name, agent, options, host }: Invocation & { name: string; agent: string },
  signal: AbortSignal,
): Promise<string> {
  const isScoped = options.value('scope') !== undefined
  if (!isScoped && !hasServerFiles(toSessionPlace(host))) return ''
  const own = isScoped ? [] : (await request(dispatch, 'listMcps', { agent }, signal)).mcps
  const found = await findFileServer(name, { options, host }, own)
  return found ? JSON.stringify(requireFileEntry(found)) : ''
}

/** A server of a file as `mcp list` and `mcp health` show it. */
export interface FileServerView {
  found: SessionServer
  /** `ready` for one that nothing is known of, else its state as far as it is known without starting it. */
  state: string
  /** The reason why it is not used, or the last error; else empty. */
  reason: string
  /** RFC 3339; else empty. */
  lastErrorAt: string
  /** The number of tools; undefined when they were never listed. */
  tools: number | undefined
  peer: McpPeer | undefined
}

/** Returns what is known of servers of files without starting one. */
export async function viewFileServers(
  dispatch: Dispatch,
  { agent, servers }: { agent: string; servers: readonly SessionServer[] },
  signal: AbortSignal,
): Promise<FileServerView[]> {
  const entries = servers.flatMap(({ entry }) => (entry ? JSON.stringify(entry) : []))
  const view =
    entries.length === 0 ? undefined : await request(dispatch, 'mcpView', { agent, entries }, signal)
  const views = view?.agents.find((one) => one.agent === '')?.servers ?? []
  return servers.map((found) => {
    const { state, reason, entry } = found
    const server = entry && views.find(({ name }) => name === entry.name)
    if (!server) return { found, state, reason, lastErrorAt: '', tools: undefined, peer: undefined }
    return {
      found,
      state: server.state === McpPeerState.IDLE ? state : stateName(server.state),
      reason: server.error,
      lastErrorAt: server.lastErrorAt,
      tools: server.listed ? server.tools.filter(({ hidden }) => hidden === '').length : undefined,
      peer: view?.peers.find(({ fingerprint }) => fingerprint === server.fingerprint),
    }
  })
}

/** Renders what is known as a comment, then the entry as it is in the file, with secrets hidden. */
export function toFileServerText(found: SessionServer): string {
  const { server, state, reason } = found
  const lines = [`# ${server.name}: ${server.file}`, `# ${state}${reason === '' ? '' : `: ${reason}`}`]
  const entry = toShownEntry(found)
  if (!entry) return `${[...lines, `# ${summarizeServer(server)}`].join('\n')}\n`
  const { name, ...table } = entry
  return `${lines.join('\n')}\n\n[server.${name}]\n${renderToml(table)}`
}

/** Converts such a server to its `--json` form, which is that of an agent's server. */
export function toJsonFileServer(found: SessionServer) {
  const { server, state, reason } = found
  const entry = toShownEntry(found)
  return {
    agent: null,
    name: server.name,
    source: server.file,
    scope: server.scope,
    state,
    error: reason || null,
    transport: entry ? inferTransport(entry) : null,
    entry: entry ?? null,
  }
}

/** Returns the entry with placeholders; undefined when it is not a valid one. */
function toShownEntry({ server }: SessionServer): McpEntry | undefined {
  const outcome = checkValue(mcpEntry, { name: server.name, ...server.table })
  return outcome.ok ? redactEntry(outcome.value) : undefined
}
