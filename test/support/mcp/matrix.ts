import assert from 'node:assert/strict'
import { CrabError } from '../../../src/core/base/errors.ts'
import { McpActionKind, McpPeerState } from '../../../src/core/protocol/crabtalk.generated.ts'
import { streamTurn } from '../../../src/core/protocol/dispatch.ts'
import type { Orphan } from '../orphans.ts'
import { until } from '../until.ts'
import type { McpDaemon } from './mcp-daemon.ts'
import type { RealServer } from './real-servers.ts'

/** The columns of the matrix: the checks of every server. */
export const CELLS = [
  'connect',
  'list',
  'call',
  'error',
  'cancel',
  'progress',
  'kill -9',
  'reconnect',
  'host exit',
] as const
export type Row = Partial<Record<(typeof CELLS)[number], string>>

const { PING, TOOLS, RECONNECT } = McpActionKind

/** Fills all cells but the host's exit; fails when a cell is not as expected. The daemon must be followed. */
export async function checkServer(node: McpDaemon, server: RealServer): Promise<Row> {
  const row: Row = {}
  const { name } = server.entry
  const { connectMs, peer } = await node.act(name, PING)
  assert.equal(peer?.state, McpPeerState.CONNECTED)
  row.connect = `${peer.protocolVersion}, ${connectMs} ms`
  const { tools } = await node.act(name, TOOLS)
  assert.ok(tools.some((tool) => tool.remoteName === server.good.tool))
  row.list = `${tools.length} tools`
  row.call = await checkCalls(node, server)
  const bad = await node.call(name, server.bad.tool, server.bad.args)
  assert.ok(bad.isError)
  assert.match(bad.output, server.bad.expects)
  row.error = 'told as the answer'
  row.cancel = await cancel(node, server)
  row.progress =
    server.progress === undefined ? 'has none' : await tellProgress(node, server, server.progress)
  row['kill -9'] = await killInFlight(node, server)
  row.reconnect = await reconnect(node, server)
  return row
}

/** Renders the observations as a table, a row for each server. */
export function toMatrix(names: readonly string[], rows: readonly Row[]): string[] {
  const lines = rows.map(
    (row, at) => `| ${names[at]} | ${CELLS.map((cell) => row[cell] ?? '').join(' | ')} |`,
  )
  return [`| server | ${CELLS.join(' | ')} |`, `|${'---|'.repeat(CELLS.length + 1)}`, ...lines]
}

async function checkCalls(node: McpDaemon, { entry, good }: RealServer): Promise<string> {
  const { isError, output } = await node.call(entry.name, good.tool, good.args)
  assert.equal(isError, false, output)
  assert.match(output, good.expects)
  return 'answered'
}

/**
 * Cancels a call of a server that hangs: the server is notified, the caller does not wait for it, and the
 * next call succeeds.
 */
async function cancel(node: McpDaemon, server: RealServer): Promise<string> {
  const { entry, good } = server
  const stopped = await stop(server)
  const stopping = new AbortController()
  const before = sent(node, entry.name, 'notifications/cancelled')
  const calling = callStopped(node, server, stopping.signal)
  await until('the call is under way', calling.isSent)
  stopping.abort()
  const reason = await calling.outcome
  assert.ok(reason instanceof CrabError && reason.kind === 'cancelled', String(reason))
  await until(
    'the server is told, or its request is cut',
    () => sent(node, entry.name, 'notifications/cancelled') > before,
  )
  resume(stopped)
  await node.call(entry.name, good.tool, good.args)
  return 'told at once'
}

async function tellProgress(
  node: McpDaemon,
  { entry }: RealServer,
  { tool }: NonNullable<RealServer['progress']>,
): Promise<string> {
  const message = {
    agent: 'solo',
    sender: entry.name,
    content: `mcp__${entry.name}__${tool.replace(/\W/g, '-')}`,
  }
  const events = await Array.fromAsync(streamTurn(node.daemon.dispatch, message, NEVER))
  const progress = events.filter(({ event }) => event?.$case === 'toolProgress')
  assert.ok(progress.length > 0, events.map(({ event }) => event?.$case).join())
  return `${progress.length} told`
}

/**
 * Kills the server during a call. The call fails once and is not repeated; the exit is noticed, and the next
 * call restarts the server.
 */
async function killInFlight(node: McpDaemon, server: RealServer): Promise<string> {
  const { entry } = server
  const before = await node.peer(entry.name)
  const stopped = await stop(server)
  const calls = sent(node, entry.name, 'tools/call')
  const calling = callStopped(node, server, NEVER)
  await until('the call is under way', calling.isSent)
  process.kill(findLeaf(stopped).pid, 'SIGKILL')
  resume(stopped)
  const reason = await calling.outcome
  assert.ok(reason instanceof CrabError && reason.kind === 'unavailable', String(reason))
  await until('it is noticed', async () => (await node.peer(entry.name)).state === McpPeerState.FAILED)
  assert.equal(sent(node, entry.name, 'tools/call'), calls + 1)
  await server.revive?.()
  await checkCalls(node, server)
  const after = await node.peer(entry.name)
  assert.deepEqual([after.starts, after.state], [before.starts + 1, McpPeerState.CONNECTED])
  return '1 error, 1 new start'
}

async function reconnect(node: McpDaemon, server: RealServer): Promise<string> {
  const { name } = server.entry
  const before = await node.peer(name)
  await node.act(name, RECONNECT)
  await checkCalls(node, server)
  const after = await node.peer(name)
  assert.equal(after.starts, before.starts + 1)
  if (before.pid === undefined) return 'a new session'
  assert.notEqual(after.pid, before.pid)
  await until('the old one is gone', async () =>
    (await server.processes()).every(({ pid }) => pid !== before.pid),
  )
  return 'a new process'
}

/** Calls a stopped server, and returns how the call ends. */
function callStopped(node: McpDaemon, { entry, good }: RealServer, signal: AbortSignal) {
  const before = sent(node, entry.name, 'tools/call')
  const outcome = node.call(entry.name, good.tool, good.args, { signal }).then(
    () => 'answered',
    (reason: unknown) => reason,
  )
  return { outcome, isSent: () => sent(node, entry.name, 'tools/call') > before }
}

function sent({ frames }: McpDaemon, server: string, method: string): number {
  return frames.filter(
    (frame) => frame.outgoing && frame.method === method && frame.owners.some(({ name }) => name === server),
  ).length
}

async function stop(server: RealServer): Promise<Orphan[]> {
  const processes = await server.processes()
  for (const { pid } of processes) process.kill(pid, 'SIGSTOP')
  return processes
}

function resume(processes: readonly Orphan[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGCONT')
    } catch {
      // it has ended
    }
  }
}

/** Returns the server itself, below its wrappers. */
function findLeaf(processes: readonly Orphan[]): Orphan {
  return processes.find(({ pid }) => processes.every(({ parent }) => parent !== pid))!
}

const NEVER = new AbortController().signal
