import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { entriesToml, type StdioEntry, type WatchedServer, watchedServer } from './mcp/mcp-servers.ts'
import type { ServerOptions } from './mcp/options.ts'
import { countLiving, endLiving } from './orphans.ts'
import { GRACE_MS } from './processes.ts'
import { startSandboxDaemon, WITH_DAEMON } from './sandbox-daemon.ts'
import { makeTalk, type Talk } from './talk.ts'
import { until } from './until.ts'

/** The ways crabtalk ends: by itself, or by a signal while tools run. */
export const ENDS = ['exit', 'SIGINT', 'SIGTERM', 'SIGKILL'] as const
export type End = (typeof ENDS)[number]

/** The processes that run the servers. */
export const HOSTS = ['send', 'daemon', 'mcp serve'] as const
export type Host = (typeof HOSTS)[number]

const STUBBORN = ['eof', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const

const KINDS: Readonly<Record<string, ServerOptions>> = {
  good: {},
  stubborn: { ignore: STUBBORN },
  'good, stubborn grandchild': { grandchild: ['stubborn'] },
  'good, stubborn grandchild by setsid': { grandchild: ['session+stubborn'] },
}

const WAYS = { direct: false, 'sh -c': true, 'like npx': 'npx' } as const

/** The number of combinations of servers and wrappers. */
export const SERVER_KINDS = Object.keys(KINDS).length * Object.keys(WAYS).length

/** One server, and the processes that were left of it. */
export interface Cell {
  server: string
  host: Host
  end: End
  /**
   * The number of live processes while it served: itself, its wrappers and grandchildren, and their watchers.
   */
  before: number
  /** The number of processes left at the end. */
  left: number
  /** The time from the end until the last of them was gone, in milliseconds. */
  goneMs: number
}

/** Runs every kind of server in one crabtalk, ends it in this way, and counts what is left of each. */
export async function endWithServers(host: Host, end: End): Promise<Cell[]> {
  const isExit = end === 'exit'
  const names = serverKinds().map((_, index) => `s${index}`)
  const args = JSON.stringify({ ms: isExit ? 1 : 60_000 })
  const calls = names.map((name) => ({ call: name, name: `mcp__${name}__sleep`, args }))
  await using talk = await makeTalk([{ parts: calls }, { parts: ['Done'] }])
  const servers = serverKinds().map(({ options, wrapped }, index) => {
    return watchedServer(talk.cwd, options, { name: names[index]!, wrapped, isPlain: true })
  })
  await giveServers(talk, servers)
  const before = await HOW[host](talk, servers, end)
  const gone = await whenGone(servers.map(({ mark }) => mark))
  for (const [mark, { left }] of gone) if (left > 0) await endLiving(mark)
  return serverKinds().map(({ name }, index) => {
    const { mark } = servers[index]!
    return { server: name, host, end, before: before.get(mark)!, ...gone.get(mark)! }
  })
}

/**
 * Formats a table with a row for each kind of server and a column for each host and end; a cell shows how many
 * processes were left, and for how long.
 */
export function toOrphanTable(cells: readonly Cell[]): string[] {
  const columns = HOSTS.flatMap((host) => ENDS.map((end) => ({ host, end })))
  const head = `| server | ${columns.map(({ host, end }) => `${host}, ${end}`).join(' | ')} |`
  const rows = serverKinds().map(({ name }) => {
    const own = columns.map(({ host, end }) =>
      cells.find((cell) => cell.server === name && cell.host === host && cell.end === end),
    )
    const shown = own.map((cell) => (cell ? `${cell.before} → ${cell.left} (${seconds(cell.goneMs)})` : ''))
    return `| ${name} | ${shown.join(' | ')} |`
  })
  return [head, `|${'---|'.repeat(columns.length + 1)}`, ...rows]
}

function serverKinds(): { name: string; options: ServerOptions; wrapped: boolean | 'npx' }[] {
  return Object.entries(KINDS).flatMap(([kind, options]) =>
    Object.entries(WAYS).map(([way, wrapped]) => ({ name: `${kind}, ${way}`, options, wrapped })),
  )
}

/**
 * Writes agents with the servers; each includes only the tool that is called, with timeouts for a busy machine.
 */
async function giveServers({ home }: Talk, servers: readonly WatchedServer[]): Promise<void> {
  await mkdir(join(home, 'agents'), { recursive: true })
  const entries = servers.map(({ entry, mark }) => ({
    ...entry,
    env: { CRAB_MARK: mark },
    include: ['sleep'],
    startup_timeout_ms: 60_000,
    permissions: { allow: ['*'] },
  })) satisfies StdioEntry[]
  await writeFile(join(home, 'agents', 'crab.toml'), entriesToml(...entries))
  await writeFile(join(home, 'agents', 'crab.md'), 'You call tools.\n')
}

async function endSend(talk: Talk, servers: readonly WatchedServer[], end: End): Promise<Counts> {
  const run = talk.startSend(['--yolo', 'go'], { env: { CRABTALK_NO_DAEMON: '1' } })
  const before = await whenCalled(servers, run.finished)
  if (end !== 'exit') run.child.kill(end)
  await run.finished
  return before
}

async function endDaemon(talk: Talk, servers: readonly WatchedServer[], end: End): Promise<Counts> {
  await using daemon = await startSandboxDaemon(talk)
  const run = talk.startSend(['--yolo', 'go'], { env: WITH_DAEMON })
  const before = await whenCalled(servers, run.finished)
  if (end === 'exit') {
    await run.finished
    await talk.run(['daemon', 'stop'], { env: WITH_DAEMON })
  } else daemon.kill(end)
  await daemon.finished
  await run.finished
  return before
}

/** Ends `mcp serve` like a host program, which closes its input when it is done. */
async function endServe(talk: Talk, servers: readonly WatchedServer[], end: End): Promise<Counts> {
  const run = talk.start(['mcp', 'serve'], { env: { CRABTALK_NO_DAEMON: '1' }, stdin: 'open' })
  const say = (message: object) =>
    run.child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'host', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  say({ id: 1, method: 'initialize', params })
  say({ method: 'notifications/initialized' })
  await run.prints(/"id":1\b/)
  say({ id: 2, method: 'tools/call', params: { name: 'send_crab', arguments: { message: 'go' } } })
  const before = await whenCalled(servers, run.finished)
  if (end === 'exit') {
    await run.prints(/"id":2\b/)
    run.child.stdin!.end()
  } else run.child.kill(end)
  await run.finished
  return before
}

const HOW = { send: endSend, daemon: endDaemon, 'mcp serve': endServe }

/** Counts each server's processes once all have been called. */
async function whenCalled(servers: readonly WatchedServer[], finished: Promise<unknown>): Promise<Counts> {
  const isCalled = ({ messages }: WatchedServer) => messages('tools/call').length > 0
  let isOver = false
  void finished.then(() => {
    isOver = true
  })
  for (const server of servers) await until('its tool is called', () => isOver || isCalled(server))
  return await countLiving(servers.map(({ mark }) => mark))
}

/** Polls until nothing is left, or until it has taken too long. */
async function whenGone(marks: readonly string[]): Promise<Map<string, Pick<Cell, 'left' | 'goneMs'>>> {
  const begun = performance.now()
  const gone = new Map<string, Pick<Cell, 'left' | 'goneMs'>>()
  for (;;) {
    const counts = await countLiving(marks)
    const goneMs = performance.now() - begun
    const isOver = goneMs > GRACE_MS
    for (const [mark, left] of counts) {
      if (!gone.has(mark) && (left === 0 || isOver)) gone.set(mark, { left, goneMs })
    }
    if (gone.size === marks.length) return gone
    await sleep(LOOK_MS)
  }
}

type Counts = Map<string, number>

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

const LOOK_MS = 100
