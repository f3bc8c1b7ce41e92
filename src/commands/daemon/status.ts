import { join } from 'node:path'
import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { loadConfig } from '../../core/config/load-config.ts'
import type { ActiveConversationInfo, DaemonStats } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { FoundDaemon } from '../../daemon/find-daemon.ts'
import { homeHolder } from '../../daemon/serve/home-lease.ts'
import { OPEN_TCP_WARNING } from '../../daemon/tcp/open-tcp.ts'
import { findRunningDaemon } from './running.ts'

/** The exit code of `systemctl status` for a unit that is not running. */
const NOT_RUNNING = 3

/** Runs `crabtalk daemon status`. */
export const daemonStatusCommand: CommandHandler = async ({ options, host, signal }) => {
  const found = await findRunningDaemon(host, signal)
  const isJson = options.has('json')
  if (!found) return await printNone(host, isJson)
  const { stats, turns } = await queryDaemon(found, signal)
  if (found.olderAt !== undefined) return printOlder(host, { stats, at: found.olderAt, isJson })
  const warnings = (await isTcpOpen(stats, host)) ? [OPEN_TCP_WARNING] : []
  if (isJson) return printJson(host, { ...toJson(stats, turns, host), warnings })
  await printStatus(stats, turns, host)
  for (const warning of warnings) host.stderr.write(`crabtalk: warning: ${warning}\n`)
  return 0
}

/** Returns whether the daemon listens on TCP without requiring a token. */
async function isTcpOpen({ endpoints }: DaemonStats, host: Host): Promise<boolean> {
  if (!endpoints.some((endpoint) => endpoint.startsWith('tcp:'))) return false
  const config = await loadConfig(resolvePaths(host)).catch(() => undefined) // `config check` reports a broken file
  return config?.daemon.tcpToken === false
}

/** Prints that no daemon answers; a process may still hold the home. */
async function printNone(host: Host, isJson: boolean): Promise<number> {
  const { home } = resolvePaths(host)
  const holder = await homeHolder(resolvePaths(host))
  const starting = `the daemon of ${home} is starting or ending, or its socket was removed (pid ${holder?.pid ?? 'unknown'})`
  if (isJson) printJson(host, { running: false, home, ...(holder && { pid: holder.pid ?? null }) })
  else host.stdout.write(`${holder ? starting : `no daemon is running for ${home}`}\n`)
  return NOT_RUNNING
}

/** Prints the few figures of a daemon without `hello`. */
function printOlder(
  host: Host,
  { stats, at, isJson }: { stats: DaemonStats; at: string; isJson: boolean },
): number {
  const { uptimeSecs, registeredAgents, activeConversations, activeModel } = stats
  if (isJson) {
    const figures = { agents: registeredAgents, conversations: activeConversations, uptime_secs: uptimeSecs }
    return printJson(host, {
      running: true,
      protocol: 'older',
      endpoints: [at],
      model: activeModel,
      ...figures,
    })
  }
  const rows: [string, string][] = [
    ['protocol', 'older, without hello: turns and lists only'],
    ['listens on', at],
    ['up', toDuration(uptimeSecs)],
    ['model', activeModel || 'none'],
    ['agents', String(registeredAgents)],
    ['loaded', `${activeConversations} conversations`],
  ]
  for (const [name, value] of rows) host.stdout.write(`${name.padEnd(11)} ${value}\n`)
  return 0
}

/** Sends the requests one after another, so that only one of the daemon's clients is this query. */
async function queryDaemon({ dispatch }: FoundDaemon, signal: AbortSignal) {
  const { conversations: turns } = await request(dispatch, 'listActiveConversations', {}, signal)
  const stats = await request(dispatch, 'getStats', {}, signal)
  return { turns, stats: { ...stats, connections: stats.connections - 1 } }
}

async function printStatus(
  stats: DaemonStats,
  turns: readonly ActiveConversationInfo[],
  host: Host,
): Promise<void> {
  const rows: [string, string][] = [
    ['pid', String(stats.pid)],
    ['version', stats.build],
    ['up', toDuration(stats.uptimeSecs)],
    ['home', stats.home],
    ['listens on', stats.endpoints.join(', ')],
    ['model', stats.activeModel || 'none'],
    ['agents', String(stats.registeredAgents)],
    ['clients', String(stats.connections)],
    ['turns', String(turns.length)],
    ['questions', String(stats.asks)],
    ['memory', `${(stats.memoryBytes / 1_000_000).toFixed(0)} MB`],
    ['log', logFile(host)],
    ...(stats.idleExitMs === undefined
      ? []
      : [['ends', `after ${toDuration(stats.idleExitMs / 1000)} without use`] as [string, string]]),
  ]
  for (const [name, value] of rows) host.stdout.write(`${name.padEnd(11)} ${value}\n`)
  if (turns.length === 0) return
  host.stdout.write('\n')
  await printTable(
    host,
    ['AGENT', 'SENDER', 'FOR', 'STATE', 'TITLE'],
    turns.map((turn) => [turn.agent, turn.sender, toDuration(turn.aliveSecs), toState(turn), turn.title]),
  )
}

function toState({ asks, detached }: ActiveConversationInfo): string {
  return `${asks > 0 ? 'asks' : 'runs'}${detached ? ', detached' : ''}`
}

function toJson(stats: DaemonStats, turns: readonly ActiveConversationInfo[], host: Host) {
  return {
    running: true,
    pid: stats.pid,
    version: stats.build,
    uptime_secs: stats.uptimeSecs,
    home: stats.home,
    endpoints: stats.endpoints,
    model: stats.activeModel,
    agents: stats.registeredAgents,
    clients: stats.connections,
    turns: turns.map(({ agent, sender, session, runId, aliveSecs, detached, asks, title }) => ({
      ...{ agent, sender, session, title, detached, asks },
      run: runId,
      seconds: aliveSecs,
    })),
    questions: stats.asks,
    subscriptions: stats.subscriptions,
    memory_bytes: stats.memoryBytes,
    log: logFile(host),
    idle_exit_ms: stats.idleExitMs ?? null,
  }
}

function logFile(host: Host): string {
  return join(resolvePaths(host).logs, 'daemon.log')
}

/** Formats a duration as `3d 4h`, `2h 5m`, `1m 3s` or `8s`. */
function toDuration(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const
  const first = units.findIndex(([, size]) => seconds >= size)
  if (first < 0) return '0s'
  let left = Math.floor(seconds)
  const parts = units.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return `${count}${unit}`
  })
  return parts.filter((part) => !part.startsWith('0')).join(' ')
}
