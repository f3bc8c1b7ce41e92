import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../src/core/base/errors.ts'
import { McpPeerState } from '../../src/core/protocol/crabtalk.generated.ts'
import { startHttpServer } from '../support/mcp/http-server.ts'
import { type McpDaemon, startDaemonAt, startMcpDaemon } from '../support/mcp/mcp-daemon.ts'
import { type WatchedServer, watchedServer } from '../support/mcp/mcp-servers.ts'
import { isRunning, recordFolder } from '../support/mcp/record-folder.ts'
import { endLiving, livingWith } from '../support/orphans.ts'
import { until } from '../support/until.ts'

const CALLS = 20

test(`${CALLS} concurrent calls after a server was killed start it once, and the call that was running is not repeated`, async () => {
  await using records = await recordFolder()
  const server = watchedServer(records.path, {}, { name: 'one', isPlain: true })
  await using node = await startMcpDaemon({ crab: [server.entry] })
  const first = Number((await node.call('one', 'pid', {})).output)
  const failure = settleOutcome(node.call('one', 'sleep', { ms: 60_000 }))
  await until('the call is under way', () => countCalls(server, 'sleep') === 1)
  process.kill(first, 'SIGKILL')
  await assertGone(node, failure)
  const pids = await Promise.all(Array.from({ length: CALLS }, () => node.call('one', 'pid', {})))
  assert.equal(new Set(pids.map(({ output }) => output)).size, 1)
  assert.deepEqual(server.starts(), [first, Number(pids[0]!.output)])
  assert.deepEqual([countCalls(server, 'sleep'), countCalls(server, 'pid')], [1, CALLS + 1])
})

test(`${CALLS} concurrent calls after an HTTP server was killed make one new session, and the call that was running is not repeated`, async () => {
  await using records = await recordFolder()
  await using server = await startHttpServer(records.path)
  await using node = await startMcpDaemon({ crab: [{ name: 'one', url: server.url }] })
  const countRequests = (method: string, tool?: string) =>
    server.requests().filter((request) => request.method === method && request.tool === tool).length
  const first = (await node.call('one', 'pid', {})).output
  assert.equal(countRequests('initialize'), 1)
  const failure = settleOutcome(node.call('one', 'sleep', { ms: 60_000 }))
  await until('the call is under way', () => countRequests('tools/call', 'sleep') === 1)
  await server.kill()
  const reason = await failure
  assert.ok(reason instanceof CrabError && reason.kind === 'unavailable', String(reason))
  await server.revive()
  const pids = await Promise.all(Array.from({ length: CALLS }, () => node.call('one', 'pid', {})))
  assert.deepEqual([...new Set(pids.map(({ output }) => output === first))], [false])
  assert.deepEqual([countRequests('initialize'), countRequests('tools/call', 'sleep')], [2, 1])
})

test('a daemon that starts after kill -9 ends the servers of its predecessor, and runs each server once', async () => {
  await using records = await recordFolder()
  const servers = [
    watchedServer(records.path, {}, { name: 'good', isPlain: true }),
    watchedServer(records.path, { ignore: STUBBORN }, { name: 'stubborn', isPlain: true }),
    watchedServer(records.path, { grandchild: ['session'] }, { name: 'parent', isPlain: true }),
  ]
  const entries = servers.map(({ entry, mark }) => ({ ...entry, env: { CRAB_MARK: mark } }))
  await using node = await startMcpDaemon({ crab: entries })
  try {
    await Promise.all(entries.map(({ name }) => node.call(name, 'pid', {})))
    const before = (await Promise.all(servers.map(({ mark }) => livingWith(mark)))).flat()
    node.daemon.kill('SIGSTOP') // stopped, so that it does not end unwatched servers itself
    for (const { pid } of before.filter(isWatcher)) process.kill(pid, 'SIGKILL')
    node.daemon.kill('SIGKILL')
    await node.daemon.ended
    const programs = before.filter((one) => !isWatcher(one))
    assert.equal(programs.length, servers.length + 1)
    await using again = await startDaemonAt(node.home)
    assert.notEqual(again.pid, node.daemon.pid)
    await until('what was left is ended', () => !programs.some(({ pid }) => isRunning(pid)))
    await until('each runs again', () => servers.every(({ starts }) => starts().length === 2))
    for (const { mark, starts } of servers) {
      const living = (await livingWith(mark)).filter((one) => !isWatcher(one) && !isGrandchild(one))
      assert.deepEqual(
        living.map(({ pid }) => pid),
        [starts()[1]],
      )
    }
  } finally {
    for (const { mark } of servers) await endLiving(mark)
  }
})

const STUBBORN = ['eof', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Checks that the call fails once and that the daemon knows the server is gone. */
async function assertGone(node: McpDaemon, failure: Promise<unknown>): Promise<void> {
  const reason = await failure
  assert.ok(reason instanceof CrabError && reason.kind === 'unavailable', String(reason))
  assert.match(reason.message, /"one": it was killed by SIGKILL/)
  await until('it is noticed', async () => (await node.peer('one')).state === McpPeerState.FAILED)
}

function countCalls(server: WatchedServer, tool: string): number {
  return server.messages('tools/call').filter(({ params }) => params?.['name'] === tool).length
}

function settleOutcome(work: Promise<unknown>): Promise<unknown> {
  return work.catch((reason: unknown) => reason)
}

function isWatcher({ command }: { command: string }): boolean {
  return command.includes('crabtalk-watch')
}

function isGrandchild({ command }: { command: string }): boolean {
  return command.includes('grandchild.ts')
}
