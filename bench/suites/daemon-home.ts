import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'smol-toml'
import { makeHome } from '../../scripts/sea/scenarios.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import { writeConversations } from '../conversations.ts'
import { type Daemon, startDaemon } from '../daemon.ts'
import { mcpServer } from '../mcp.ts'
import { countRunning, countWakeUps, readCpuMs, readRssMb } from '../processes.ts'
import type { Setting, SuiteResult } from '../setting.ts'
import { median } from '../statistics.ts'
import type { Column, Line, Mark } from '../table.ts'

const COLUMNS: readonly Column[] = [
  { key: 'startMs', title: 'start to first answer, ms' },
  { key: 'firstListMs', title: 'first listing of conversations, ms' },
  { key: 'listMs', title: 'a later one, ms', digits: 1 },
  { key: 'rssMb', title: 'idle, RSS MB', digits: 1 },
  { key: 'idleCpuMs', title: 'idle for 10 s, CPU ms', digits: 1 },
  { key: 'wakeUps', title: 'idle for 10 s, wake-ups' },
  { key: 'servers', title: 'MCP servers' },
]

const IDLE: Readonly<Record<string, Mark>> = {
  rssMb: { most: 65 },
  idleCpuMs: { most: 1 },
  wakeUps: { most: 1 },
}
const MANY: Readonly<Record<string, Mark>> = { startMs: { most: 1000 }, listMs: { most: 50 } }

/** Measures an idle daemon, in homes with little and with much in them. */
export async function daemonHome(setting: Setting): Promise<SuiteResult> {
  const empty = await makePlace(setting, 'plain')
  const lines: Line[] = [{ name: 'a plain home', values: await live(empty), marks: IDLE }]
  const full = await makePlace(setting, 'full')
  await writeConversations(full.env['CRABTALK_HOME']!, CONVERSATIONS)
  const name = '10,000 conversations'
  lines.push({
    name: `${name}, never listed`,
    values: await live(full),
    marks: { startMs: MANY['startMs']! },
  })
  lines.push({ name, values: await live(full), marks: MANY })
  const shared = await makePlace(setting, 'shared')
  await addAgents(shared.env['CRABTALK_HOME']!)
  const values = { ...(await live(shared)) }
  lines.push({ name: '100 agents with one MCP server', values, marks: { servers: { most: 1 } } })
  return { columns: COLUMNS, lines }
}

const CONVERSATIONS = 10_000
const AGENTS = 100
const IDLE_MS = 10_000
/** The time, in milliseconds, after which all work of the start has ended. */
const SETTLE_MS = 5000

type Place = Pick<Setting, 'binary' | 'env' | 'cwd'>

async function makePlace({ binary, cwd, scratch, model }: Setting, name: string): Promise<Place> {
  return { binary, cwd, env: await makeHome(join(scratch, name), model.url) }
}

/** Measures all values of one daemon. */
async function live(place: Place): Promise<Record<string, number>> {
  await using daemon = await startDaemon(place)
  await sleep(SETTLE_MS)
  const figures = { startMs: daemon.startMs, ...(await idle(daemon)) }
  const servers = countRunning(serverMark(place.env['CRABTALK_HOME']!))
  const firstListMs = await list(daemon)
  const later: number[] = []
  while (later.length < LISTINGS) later.push(await list(daemon))
  return { ...figures, servers, firstListMs, listMs: median(later) }
}

const LISTINGS = 11

async function idle({ pid }: Daemon): Promise<Record<string, number>> {
  const [cpu, wakeUps] = [readCpuMs(pid), countWakeUps(pid)]
  await sleep(IDLE_MS)
  return { rssMb: readRssMb(pid), idleCpuMs: readCpuMs(pid) - cpu, wakeUps: countWakeUps(pid) - wakeUps }
}

async function list({ dispatch }: Daemon): Promise<number> {
  const begin = performance.now()
  await request(dispatch, 'listConversations', {}, new AbortController().signal)
  return performance.now() - begin
}

async function addAgents(home: string): Promise<void> {
  const [command, ...args] = mcpServer()
  const entry = { name: 'everything', command, args: [...args, serverMark(home)] }
  const folder = join(home, 'agents')
  await mkdir(folder, { recursive: true })
  for (let at = 0; at < AGENTS; at++) {
    await writeFile(join(folder, `agent${at}.toml`), stringify({ mcps: [entry] }))
    await writeFile(join(folder, `agent${at}.md`), 'You call tools.\n')
  }
}

/** Returns a word that marks the command lines of this home's servers. */
function serverMark(home: string): string {
  return `--of=${home}`
}
