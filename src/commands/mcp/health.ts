import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { CrabError, ERROR_KINDS } from '../../core/base/errors.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { findMcpEntry, findNameClash } from '../../core/config/mcp-declaration.ts'
import type { McpPeer, McpView } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { SessionServer } from '../../edge/entries/session-servers.ts'
import { attachServers } from './attach-servers.ts'
import { readViewedAgent } from './change.ts'
import { type FileServerView, findFileServer, listFileServers, viewFileServers } from './file-servers.ts'
import { toJsonHealth } from './rows.ts'
import { stateName } from './servers.ts'

/**
 * Runs `crabtalk mcp health`: prints how the servers of agents did recently. Starts no server. Exits with 69
 * when one of them is unusable.
 */
export const serverHealthCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attachServers(host, signal)
  const agent = readViewedAgent(options)
  const [name] = options.args
  const { dispatch } = attached
  const isScoped = options.value('scope') !== undefined
  if (isScoped) refuseAll(options)
  const view = isScoped ? NO_VIEW : await request(dispatch, 'mcpView', { agent }, signal)
  const own = view.agents.flatMap(({ servers }) => servers)
  const files = agent === '' ? [] : await selectFileServers({ options, host }, own)
  const ofFiles = (await viewFileServers(dispatch, { agent, servers: files }, signal)).map(toFileHealth)
  const isFile = name !== undefined && ofFiles.length > 0
  const servers = [...(isFile ? [] : toHealth(view, name)), ...ofFiles]
  const exit = servers.some(({ state }) => BROKEN.has(state)) ? ERROR_KINDS.unavailable.exit : 0
  if (options.has('json')) {
    printJson(host, servers.map(toJson))
    return exit
  }
  if (servers.length === 0) {
    host.stderr.write(
      'No servers yet; crabtalk mcp catalog lists some to install, and crabtalk mcp add NAME -- COMMAND adds any\n',
    )
    return exit
  }
  const isAll = options.has('all')
  const rows = servers.map((one) => [...(isAll ? [one.agent ?? ''] : []), ...toRow(one, Date.now())])
  await printTable(host, [...(isAll ? ['AGENT'] : []), ...HEADER], rows)
  return exit
}

const HEADER = ['NAME', 'STATE', 'SINCE', 'LAST OK', 'FAILURES', 'RETRY', 'LAST ERROR']

/** The states in which an agent cannot use a server that it should be able to use. */
const BROKEN: ReadonlySet<string> = new Set(['failed', 'invalid', 'needs_auth'])

interface Health {
  /** Null for a server of a file. */
  agent: string | null
  name: string
  state: string
  error: string
  lastErrorAt: string
  /** Undefined for a server that was not used in this process. */
  peer: McpPeer | undefined
}

function toHealth({ agents, peers }: McpView, name: string | undefined): Health[] {
  return agents.flatMap(({ agent, servers }) => {
    const selected = name === undefined ? servers : [findMcpEntry(agent, servers, name)]
    return selected.map((server) => {
      const peer = peers.find(({ fingerprint }) => fingerprint === server.fingerprint)
      const { error, lastErrorAt } = server
      return { agent, name: server.name, state: stateName(server.state), error, lastErrorAt, peer }
    })
  })
}

const NO_VIEW: McpView = { agents: [], peers: [] }

function refuseAll(options: ParsedOptions): void {
  if (!options.has('all')) return
  throw new CrabError('usage', 'Cannot combine --all and --scope', { hint: 'give only one of them' })
}

/** Returns the servers of files that the command is about: the named one, else those that the agent lacks. */
async function selectFileServers(
  { options, host }: { options: ParsedOptions; host: Host },
  own: readonly { name: string }[],
): Promise<readonly SessionServer[]> {
  const [name] = options.args
  if (name !== undefined)
    return [await findFileServer(name, { options, host }, own)].flatMap((one) => one ?? [])
  const servers = await listFileServers({ options, host })
  return servers.filter(({ server }) => findNameClash(own, server.name) === undefined)
}

function toFileHealth({ found, state, reason, lastErrorAt, peer }: FileServerView): Health {
  return { agent: null, name: found.server.name, state, error: reason, lastErrorAt, peer }
}

function toRow({ name, state, error, lastErrorAt, peer }: Health, now: number): string[] {
  const ago = (time: string | undefined) => (time ? relativeTime(time, now) : '-')
  return [
    name,
    state,
    ago(peer?.connectedAt),
    ago(peer?.lastOkAt),
    `${peer?.failures ?? '-'}`,
    formatRetry({ state, peer }, now),
    error === '' ? '-' : [lastErrorAt && ago(lastErrorAt), error].filter(Boolean).join(': '),
  ]
}

/** Formats when a server is retried: at that time by itself, unless only a call starts it. */
function formatRetry({ state, peer }: Pick<Health, 'state' | 'peer'>, now: number): string {
  if (peer?.nextRetryAt) return formatUntil(peer.nextRetryAt, now)
  return state === 'failed' ? 'next call' : '-'
}

function formatUntil(time: string, now: number): string {
  const seconds = Math.ceil((Date.parse(time) - now) / 1000)
  return seconds > 0 ? `in ${seconds}s` : 'next call'
}

function toJson({ agent, name, state, error, lastErrorAt, peer }: Health) {
  return { agent, name, state, ok: !BROKEN.has(state), ...toJsonHealth(peer, { error, lastErrorAt }) }
}
