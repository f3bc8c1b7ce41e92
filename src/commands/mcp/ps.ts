import { basename, dirname } from 'node:path'
import type { CommandHandler } from '../../cli/command.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { requireDaemon } from '../../cli/require-daemon.ts'
import { formatAge, formatMegabytes, pluralize } from '../../core/base/format.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { DISCOVERY } from '../../core/config/component.ts'
import type { McpPeer } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { stateName } from './servers.ts'

/** Runs `crabtalk mcp ps`: lists the servers that the daemon runs, one row for each process or connection. */
export const listServerProcessesCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await requireDaemon(host, { task: 'list running MCP servers' }, signal)
  const agent = options.value('agent')
  const { peers } = await request(attached.dispatch, 'mcpView', agent === undefined ? {} : { agent }, signal)
  const shown = peers.filter(({ owners }) => agent === undefined || owners.some((one) => one.agent === agent))
  if (options.has('json')) return printJson(host, shown.map(toJson))
  if (shown.length === 0) {
    const whose = agent === undefined ? '' : ` for ${agent}`
    host.stderr.write(
      `No servers are running${sanitize(whose)}; list the declared ones with crabtalk mcp list --all\n`,
    )
    return 0
  }
  const rows = shown.map((peer) => toRow(peer, Date.now()))
  await printTable(host, HEADER, rows)
  const failed = shown.filter(({ error }) => error !== '')
  if (failed.length > 0) {
    const names = [...new Set(failed.map(({ owners }) => joinNames(owners)))].join(', ')
    host.stderr.write(`crabtalk: ${takeStart(names, MAX_NAMES)} failed; crabtalk mcp health --all says why\n`)
  }
  const saved = describeSavings(shown)
  if (saved !== undefined) host.stdout.write(`\n${saved}\n`)
  return 0
}

const HEADER = [
  ...['ID', 'NAME', 'STATE', 'AGENTS', 'PID', 'MEMORY'],
  ...['CALLS', 'ERRORS', 'LATENCY', 'STARTS', 'UP'],
]

/** Describes what sharing saves: a process with several owners replaces as many processes. */
export function describeSavings(peers: readonly McpPeer[]): string | undefined {
  const running = peers
    .map((peer) => ({ ...peer, owners: selectAgents(peer.owners) }))
    .filter(({ pid, owners }) => pid !== undefined && owners.length > 0)
  if (running.length === 0) return undefined
  const agents = new Set(running.flatMap(({ owners }) => owners.map(({ agent }) => agent))).size
  const processes = running.reduce((sum, { owners }) => sum + owners.length - 1, 0)
  const bytes = running.reduce(
    (sum, { owners, memoryBytes = 0 }) => sum + (owners.length - 1) * memoryBytes,
    0,
  )
  const use = `${pluralize(agents, 'agent')} ${agents === 1 ? 'uses' : 'use'} ${pluralize(running.length, 'process', 'processes')}`
  if (processes === 0) return `${use}; none is shared`
  const memory = bytes === 0 ? '' : ` and about ${formatMegabytes(bytes)}`
  return `${use}: ${pluralize(processes, 'process', 'processes')}${memory} saved`
}

function toRow(peer: McpPeer, now: number): string[] {
  const { fingerprint, owners, state, pid, memoryBytes, calls, errors, latencyMs, starts, connectedAt } = peer
  return [
    fingerprint.slice(0, SHORT_ID_CHARS),
    joinNames(owners),
    stateName(state),
    joinAgents(owners),
    `${pid ?? '-'}`,
    formatMegabytes(memoryBytes),
    `${calls}`,
    `${errors}`,
    latencyMs === undefined ? '-' : `${Math.round(latencyMs)} ms`,
    `${starts}`,
    formatAge(connectedAt, now),
  ]
}

type Owners = McpPeer['owners']

/** Returns each agent with its name for the server once, without the owner that looks for components. */
function selectAgents(owners: Owners): Owners {
  const agents = owners.filter(({ agent }) => agent !== DISCOVERY.name)
  return [...new Map(agents.map((owner) => [`${owner.agent}/${owner.name}`, owner])).values()]
}

/** Names the agents of a connection, or counts them if the names would make the table too wide. */
export function joinAgents(owners: Owners): string {
  const own = selectAgents(owners)
  const names = own.map(({ agent, name }) => (isNamedAlike(own) ? agent : `${agent}/${name}`)).join(', ')
  const count = new Set(own.map(({ agent }) => agent)).size
  const folders = new Set(owners.flatMap(({ file }) => (file === undefined ? [] : toProjectFolder(file))))
  const where = folders.size === 0 ? '' : ` in ${sanitize([...folders].join(', '))}`
  return `${names.length > MAX_AGENTS && count > 1 ? pluralize(count, 'agent') : names || '-'}${where}`
}

/** Returns the folder of a project's file of servers. */
function toProjectFolder(file: string): string {
  const folder = dirname(file)
  return basename(folder) === '.crabtalk' ? dirname(folder) : folder
}

function isNamedAlike(owners: Owners): boolean {
  return owners.every(({ name }) => name === owners[0]?.name)
}

function joinNames(owners: Owners): string {
  return sanitize([...new Set(owners.map(({ name }) => name))].join(', ')) || '-'
}

function toJson(peer: McpPeer) {
  return {
    fingerprint: peer.fingerprint,
    transport: peer.transport,
    target: peer.target,
    env_names: peer.envNames,
    header_names: peer.headerNames,
    owners: peer.owners,
    state: stateName(peer.state),
    error: peer.error || null,
    protocol: peer.protocolVersion || null,
    tools: peer.toolCount,
    tokens: peer.schemaTokens,
    pid: peer.pid ?? null,
    memory_bytes: peer.memoryBytes ?? null,
    calls: peer.calls,
    errors: peer.errors,
    latency_ms: peer.latencyMs ?? null,
    starts: peer.starts,
    connected_at: peer.connectedAt || null,
  }
}

/** The most characters of the agents in a row; --json has all of them. */
const MAX_AGENTS = 24
/** The most characters of the names of failed servers. */
const MAX_NAMES = 200
/** The length of a short fingerprint, enough to distinguish the servers of one home. */
const SHORT_ID_CHARS = 8
