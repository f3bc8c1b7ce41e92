import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { stringify } from 'smol-toml'
import { makeHome } from '../../scripts/sea/scenarios.ts'
import { McpPeerState } from '../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import { type Daemon, startDaemon } from '../daemon.ts'
import { plainServer, startHttp } from '../mcp-callers.ts'
import { countRunning, countWakeUps, readCpuMs, readRssMb } from '../processes.ts'
import type { Setting, SuiteResult } from '../setting.ts'
import type { Column, Line, Mark } from '../table.ts'

const COLUMNS: readonly Column[] = [
  { key: 'readyMs', title: 'start until all are registered and connected, ms' },
  { key: 'servers', title: 'MCP servers' },
  { key: 'rssMb', title: 'idle, RSS MB', digits: 1 },
  { key: 'perPeerMb', title: 'more than without a server, a connection, MB', digits: 2 },
  { key: 'heapKb', title: 'of it kept in the heap, KB' },
  { key: 'idleCpuMs', title: 'idle for 60 s, CPU ms', digits: 1 },
  { key: 'wakeUps', title: 'idle for 60 s, wake-ups' },
]

/** The MCP entries that each agent declares, by agent. */
type Agents = Readonly<Record<string, readonly object[]>>

const AGENTS = 100
const PEERS = 20
const IDLE_PEERS = 5
const NONE = 'no server'
/** Allows one wake-up of our own a minute. */
const IDLE: Readonly<Record<string, Mark>> = { wakeUps: { most: 1 } }

/** Measures an idle daemon that holds MCP servers: many agents on one server, and many servers. */
export async function mcpCrowd(setting: Setting): Promise<SuiteResult> {
  await using http = await startHttp()
  const named = (count: number, toEntry: (name: string) => object) =>
    Array.from({ length: count }, (_, index) => ({ name: `s${index}`, ...toEntry(`s${index}`) }))
  const stdio = (word: string) => {
    const [command, ...args] = plainServer(word)
    return { command, args }
  }
  const remote = (name: string) => ({ url: http.url, headers: { 'x-name': name } })
  const shared = [{ name: 'shared', ...stdio('shared') }]
  const everybody = Object.fromEntries(Array.from({ length: AGENTS }, (_, at) => [`agent${at}`, shared]))
  const homes: [string, Agents, Record<string, Mark>][] = [
    [NONE, {}, IDLE],
    ['1 agent, 1 server', { agent0: shared }, {}],
    [`${AGENTS} agents, 1 server`, everybody, { servers: { most: 1 } }],
    [`1 agent, ${PEERS} servers`, { agent0: named(PEERS, stdio) }, {}],
    [`1 agent, ${PEERS} over HTTP`, { agent0: named(PEERS, remote) }, {}],
    [`${IDLE_PEERS} servers, idle`, { agent0: named(IDLE_PEERS, stdio) }, IDLE],
    [`${IDLE_PEERS} over HTTP, idle`, { agent0: named(IDLE_PEERS, remote) }, IDLE],
  ]
  const lines: Line[] = []
  for (const [name, agents, marks] of homes) {
    lines.push({ name, marks, values: await live(setting, { name, agents, isIdle: marks === IDLE }) })
  }
  const base = lines[0]!.values['rssMb']!
  const rows = lines.map(({ values, ...line }) => {
    const { connections = 0, rssMb = Number.NaN } = values
    return {
      ...line,
      values: { ...values, perPeerMb: connections > 0 ? (rssMb - base) / connections : Number.NaN },
    }
  })
  return { columns: COLUMNS, lines: [...rows, ...(await heapLines())] }
}

/** Measures the retained heap per connection and agent, in a process of its own. */
async function heapLines(): Promise<Line[]> {
  const program = join(import.meta.dirname, '../mcp-heap.ts')
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program])
  const retained: Record<string, number> = JSON.parse(stdout)
  const names = {
    stdio: 'one more over stdio',
    http: 'one more over HTTP',
    agent: 'one more agent on a server',
  }
  return Object.entries(names).map(([key, name]) => ({ name, values: { heapKb: retained[key]! } }))
}

async function live(
  { binary, cwd, scratch, model }: Setting,
  { name, agents, isIdle }: { name: string; agents: Agents; isIdle: boolean },
): Promise<Record<string, number>> {
  const mark = name.replaceAll(/\W/g, '-')
  const home = join(scratch, `crowd-${mark}`)
  const env = await makeHome(home, model.url)
  await writeAgents(env['CRABTALK_HOME']!, agents, mark)
  const start = performance.now()
  await using daemon = await startDaemon({ binary, cwd, env })
  const connections = await untilReady(daemon, agents)
  const readyMs = performance.now() - start
  await sleep(isIdle ? REST_MS : SETTLE_MS)
  const servers = countRunning(`plain-server.ts --mark=${mark}`)
  return {
    readyMs,
    servers,
    connections,
    rssMb: readRssMb(daemon.pid),
    ...(isIdle ? await idle(daemon) : {}),
  }
}

async function idle({ pid }: Daemon): Promise<Record<string, number>> {
  const [cpu, wakeUps] = [readCpuMs(pid), countWakeUps(pid)]
  await sleep(IDLE_MS)
  return { idleCpuMs: readCpuMs(pid) - cpu, wakeUps: countWakeUps(pid) - wakeUps }
}

/** Waits until every declaration has its connection; returns the number of connections. */
async function untilReady({ dispatch }: Daemon, agents: Agents): Promise<number> {
  const declared = Object.values(agents).flat().length
  const deadline = performance.now() + READY_MS
  for (;;) {
    const { peers } = await request(dispatch, 'mcpView', {}, new AbortController().signal)
    const owners = peers.reduce((sum, peer) => sum + peer.owners.length, 0)
    if (owners === declared && peers.every(({ state }) => state === McpPeerState.CONNECTED))
      return peers.length
    if (performance.now() > deadline)
      throw new Error(`Cannot measure: ${owners} of ${declared} are connected`)
    await sleep(LOOK_MS)
  }
}

async function writeAgents(home: string, agents: Agents, mark: string): Promise<void> {
  const folder = join(home, 'agents')
  await mkdir(folder, { recursive: true })
  for (const [name, entries] of Object.entries(agents)) {
    const text = stringify({ mcps: entries }).replaceAll('--mark=', `--mark=${mark}-`)
    await writeFile(join(folder, `${name}.toml`), text)
    await writeFile(join(folder, `${name}.md`), 'You call tools.\n')
  }
}

const READY_MS = 60_000
const LOOK_MS = 5
/** The time, in milliseconds, after which all work of the start has ended. */
const SETTLE_MS = 5_000
/** The time, in milliseconds, after which V8 has also finished its incremental garbage collection. */
const REST_MS = 40_000
const IDLE_MS = 60_000
