import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { ERROR_KINDS } from '../../core/base/errors.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { sanitize, sanitizeLine } from '../../core/base/sanitize.ts'
import type { McpPeer } from '../../core/protocol/crabtalk.generated.ts'
import { hasServerFiles } from '../../edge/entries/has-server-files.ts'
import { isMcpOff, openResolver, toSessionPlace } from '../session-servers.ts'
import { attachServers } from './attach-servers.ts'
import { toJsonHealth, toJsonTool } from './rows.ts'
import { type AgentViews, readAgentViews, stateName } from './servers.ts'
import { type ViewedAgent, type ViewedServer, type ViewedSession, viewAgent } from './view-facts.ts'
import { describeAgent, describeViewedServer, shortFingerprint, toViewRow, VIEW_HEADER } from './view-text.ts'

/**
 * Runs `crabtalk mcp view`: the servers of one agent with who decided each, or all processes with their owners.
 * Starts no server.
 */
export const viewServersCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attachServers(host, signal)
  const [name = ''] = options.args
  const views = await readAgentViews(attached.dispatch, name, signal)
  const session = await readViewedSession(host)
  const agents = views.infos.map((info) => viewAgent(views, info.name, session))
  const isRunning = attached.place === 'daemon'
  const isOne = name !== ''
  if (options.has('json')) {
    printJson(host, isOne ? toJsonAgent(agents[0]!, isRunning) : toJsonUnion(views, agents, isRunning))
  } else {
    if (isOne) await printAgent(host, agents[0]!)
    else await printUnion(host, views, agents)
    await host.stdout.flush()
    if (!isRunning) host.stderr.write('crabtalk: not running: no daemon; this is what would be used\n')
  }
  for (const problem of [...views.problems, ...(session.found?.problems ?? []).map(({ message }) => message)])
    host.stderr.write(sanitize(`crabtalk: ${problem}\n`))
  return views.problems.length > 0 ? ERROR_KINDS.config.exit : 0
}

/** Reads what files and the environment say about the servers of sessions in the working directory. */
async function readViewedSession(host: Host): Promise<ViewedSession> {
  const turnedOffBy = isMcpOff(host) ? 'CRABTALK_NO_MCP' : undefined
  const place = toSessionPlace(host)
  if (!hasServerFiles(place)) return { turnedOffBy, found: undefined }
  const { findSessionServers } = await import('../../edge/entries/session-servers.ts')
  return { turnedOffBy, found: await findSessionServers(place, openResolver(host)) }
}

async function printAgent(host: Host, viewed: ViewedAgent): Promise<void> {
  host.stdout.write(`${sanitizeLine(describeAgent(viewed))}\n`)
  if (viewed.servers.length === 0) return
  host.stdout.write('\n')
  await printTable(host, VIEW_HEADER, viewed.servers.map(toViewRow))
  const now = Date.now()
  for (const server of viewed.servers.filter(({ isEffective }) => isEffective)) {
    const rows = describeViewedServer(server, now).map(([name, text]) => {
      return `  ${name.padEnd(NAME_WIDTH)}  ${sanitizeLine(text)}\n`
    })
    host.stdout.write(`\n${sanitizeLine(server.name)}\n${rows.join('')}`)
  }
}

async function printUnion(host: Host, views: AgentViews, agents: readonly ViewedAgent[]): Promise<void> {
  const rows = listProcesses(views, agents).map((one) => toProcessRow(one, Date.now()))
  if (rows.length > 0) {
    await printTable(host, ['ID', 'STATE', 'OWNERS', 'TOOLS', 'LAST OK', 'FAILURES', 'STARTS'], rows)
    host.stdout.write('\n')
  }
  for (const one of agents) host.stdout.write(`${sanitizeLine(describeAgent(one))}\n`)
}

/** A process or connection, or what would be one: identical declarations of agents that are not started. */
interface ViewedProcess {
  fingerprint: string
  state: string
  owners: readonly { agent: string; name: string }[]
  target: string
  tools: number | undefined
  error: string
  peer: McpPeer | undefined
}

function listProcesses({ view }: AgentViews, agents: readonly ViewedAgent[]): ViewedProcess[] {
  const running = view.peers.map((peer): ViewedProcess => {
    const { fingerprint, owners, target, error } = peer
    return {
      ...{ fingerprint, owners, target, error, peer },
      ...{ state: stateName(peer.state), tools: peer.protocolVersion === '' ? undefined : peer.toolCount },
    }
  })
  const known = new Set(running.map(({ fingerprint }) => fingerprint))
  const declared = agents.flatMap(({ agent, servers }) => servers.map((server) => ({ ...server, agent })))
  const own = declared.filter(({ declaredBy, isEffective }) => declaredBy === 'agent' && isEffective)
  const idle = own.filter(({ fingerprint }) => !known.has(fingerprint))
  const groups = Map.groupBy(idle, ({ fingerprint, agent, name }) => fingerprint || `${agent}/${name}`)
  const others = [...groups.values()].map((group): ViewedProcess => {
    const { fingerprint, state, target, error, tools } = group[0]!
    const owners = group.map(({ agent, name }) => ({ agent, name }))
    return { fingerprint, state, owners, target, tools: tools?.length, error, peer: undefined }
  })
  return [...running, ...others]
}

function toProcessRow({ fingerprint, state, owners, target, tools, peer }: ViewedProcess, now: number) {
  return [
    shortFingerprint(fingerprint),
    state,
    owners.map(({ agent, name }) => `${agent}/${name}`).join(', ') || '-',
    `${tools ?? '-'}`,
    peer?.lastOkAt ? relativeTime(peer.lastOkAt, now) : '-',
    `${peer?.failures ?? '-'}`,
    target,
  ]
}

function toJsonUnion(views: AgentViews, agents: readonly ViewedAgent[], isRunning: boolean) {
  return {
    running: isRunning,
    processes: listProcesses(views, agents).map(
      ({ fingerprint, state, owners, target, tools, error, peer }) => ({
        ...{ fingerprint: fingerprint || null, state, owners, target, tools: tools ?? null },
        ...{ pid: peer?.pid ?? null, health: toJsonHealth(peer, { error, lastErrorAt: '' }) },
      }),
    ),
    agents: agents.map(({ agent, mode, generation, servers }) => ({
      ...{ agent, mode, generation },
      servers: servers.map(({ name }) => name),
    })),
  }
}

function toJsonAgent({ agent, mode, generation, servers }: ViewedAgent, isRunning: boolean) {
  return { running: isRunning, agent, mode, generation, servers: servers.map(toJsonServer) }
}

function toJsonServer(server: ViewedServer) {
  const { name, source, declaredBy, isEffective, decidedBy, state, peer, tools } = server
  return {
    ...{ name, source, declared_by: declaredBy, effective: isEffective, decided_by: decidedBy, state },
    ...{ fingerprint: server.fingerprint || null, transport: server.transport, target: server.target },
    ...{ env_names: server.envNames, header_names: server.headerNames },
    ...{ owners: peer?.owners ?? [], pid: peer?.pid ?? null, health: toJsonHealth(peer, server) },
    tools: tools?.map((tool) => toJsonTool(name, tool)) ?? null,
  }
}

/** The width of the names of rows: `last error`. */
const NAME_WIDTH = 10
