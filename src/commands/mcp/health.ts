import type { CommandHandler } from '../../cli/command.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { ERROR_KINDS } from '../../core/base/errors.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { findMcpEntry } from '../../core/config/mcp-declaration.ts'
import {
  type McpPeer,
  McpPeerState,
  type McpServerView,
  type McpView,
} from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attachServers } from './attach-servers.ts'
import { readViewedAgent } from './change.ts'
import { stateName } from './servers.ts'

/**
 * Runs `crabtalk mcp health`: prints how the servers of agents did recently. Starts no server. Exits with 69
 * when one of them is unusable.
 */
export const serverHealthCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attachServers(host, signal)
  const agent = readViewedAgent(options)
  const [name] = options.args
  const view = await request(attached.dispatch, 'mcpView', { agent }, signal)
  const servers = toHealth(view, name)
  const exit = servers.some(({ server }) => BROKEN.has(server.state)) ? ERROR_KINDS.unavailable.exit : 0
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
  const rows = servers.map((one) => [...(isAll ? [one.agent] : []), ...toRow(one, Date.now())])
  await printTable(host, [...(isAll ? ['AGENT'] : []), ...HEADER], rows)
  return exit
}

const HEADER = ['NAME', 'STATE', 'SINCE', 'LAST OK', 'FAILURES', 'RETRY', 'LAST ERROR']

/** The states in which an agent cannot use a server that it should be able to use. */
const BROKEN: ReadonlySet<McpPeerState> = new Set([
  McpPeerState.FAILED,
  McpPeerState.INVALID,
  McpPeerState.NEEDS_AUTH,
])

interface Health {
  agent: string
  server: McpServerView
  /** Undefined for a server that was not used in this process. */
  peer: McpPeer | undefined
}

function toHealth({ agents, peers }: McpView, name: string | undefined): Health[] {
  return agents.flatMap(({ agent, servers }) => {
    const selected = name === undefined ? servers : [findMcpEntry(agent, servers, name)]
    return selected.map((server) => {
      const peer = peers.find(({ fingerprint }) => fingerprint === server.fingerprint)
      return { agent, server, peer }
    })
  })
}

function toRow({ server, peer }: Health, now: number): string[] {
  const ago = (time: string | undefined) => (time ? relativeTime(time, now) : '-')
  const { error, lastErrorAt } = server
  return [
    server.name,
    stateName(server.state),
    ago(peer?.connectedAt),
    ago(peer?.lastOkAt),
    `${peer?.failures ?? '-'}`,
    formatRetry({ server, peer }, now),
    error === '' ? '-' : [lastErrorAt && ago(lastErrorAt), error].filter(Boolean).join(': '),
  ]
}

/** Formats when a server is retried: at that time by itself, unless only a call starts it. */
function formatRetry({ server, peer }: Pick<Health, 'server' | 'peer'>, now: number): string {
  if (peer?.nextRetryAt) return formatUntil(peer.nextRetryAt, now)
  return server.state === McpPeerState.FAILED ? 'next call' : '-'
}

function formatUntil(time: string, now: number): string {
  const seconds = Math.ceil((Date.parse(time) - now) / 1000)
  return seconds > 0 ? `in ${seconds}s` : 'next call'
}

function toJson({ agent, server, peer }: Health) {
  return {
    agent,
    name: server.name,
    state: stateName(server.state),
    ok: !BROKEN.has(server.state),
    connected_at: peer?.connectedAt || null,
    last_ok_at: peer?.lastOkAt || null,
    last_error_at: server.lastErrorAt || peer?.lastErrorAt || null,
    error: server.error || null,
    failures: peer?.failures ?? 0,
    next_retry_at: peer?.nextRetryAt || null,
  }
}
