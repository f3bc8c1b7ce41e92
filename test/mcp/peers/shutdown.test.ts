import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import { BEHAVIOURS } from '../../support/mcp/mcp-servers.ts'
import { leftAfter, livingWith } from '../../support/orphans.ts'
import { until } from '../../support/until.ts'
import { agentWith, mcpNode, offer, run, untilState } from '../mcp-node.ts'

describe('the end of servers', { concurrency: 4 }, () => {
  test('disposing ends all servers, whatever each of them does', async () => {
    await using node = await mcpNode()
    const hanging = { at: { initialize: 'hang' } } as const
    const servers = [BEHAVIOURS.good, BEHAVIOURS.stubborn, BEHAVIOURS.stubbornGrandchild, hanging].map(
      (options) => node.watch(options),
    )
    await node.servers.hook.onRegisterAgent!(
      agentWith(servers.map(({ entry }, i) => ({ ...entry, name: `s${i}` }))),
    )
    const states = () => node.servers.peers().map(({ state }) => state)
    await until('they run', () => states().join() === 'connected,connected,connected,connecting')
    await node.servers[Symbol.asyncDispose]()
    for (const { mark } of servers) assert.deepEqual(await livingWith(mark), [])
  })

  test('a running call fails when the servers are disposed, and the server is told', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([server.entry])
    await offer(node, agent)
    const call = run(node, agent, { name: 'mcp__misbehaving__sleep', args: { ms: 60_000 } })
    await until('the call is there', () => server.messages('tools/call').length === 1)
    await Promise.all([assert.rejects(call!, { kind: 'unavailable' }), node.servers[Symbol.asyncDispose]()])
    assert.deepEqual(
      server
        .received()
        .slice(-2)
        .map(({ event, message }) => event ?? message?.method),
      ['notifications/cancelled', 'eof'],
    )
    assert.deepEqual(await livingWith(server.mark), [])
  })

  for (const name of ['good', 'slowExit', 'stubborn', 'grandchild', 'stubbornGrandchild'] as const) {
    for (const wrapped of [false, true]) {
      test(`nothing is left of a server that is "${name}"${wrapped ? ' behind a shell' : ''} when disposing is done`, async () => {
        await using node = await mcpNode()
        const server = node.watch(BEHAVIOURS[name], { wrapped })
        await offer(node, agentWith([server.entry]))
        assert.notDeepEqual(await livingWith(server.mark), [])
        await node.servers[Symbol.asyncDispose]()
        assert.deepEqual(await livingWith(server.mark), [])
      })
    }
  }

  test('a server that shuts down slowly gets the time for it', async () => {
    await using node = await mcpNode()
    const server = node.watch({ delay: { exit: 100 } })
    await offer(node, agentWith([server.entry]))
    await node.servers[Symbol.asyncDispose]()
    assert.deepEqual(
      server.received().flatMap(({ event }) => event ?? []),
      ['eof'],
    )
  })

  test('a starting server is ended too', async () => {
    await using node = await mcpNode()
    const server = node.watch({ at: { initialize: 'hang' } })
    await node.servers.hook.onRegisterAgent!(agentWith([server.entry]))
    await untilState(node, 'connecting')
    await until('it runs', () => server.starts().length === 1)
    await node.servers[Symbol.asyncDispose]()
    assert.deepEqual(await livingWith(server.mark), [])
  })

  const LEFT = { start: {}, connect: { at: { initialize: 'hang' } }, call: BEHAVIOURS.stubborn } as const
  for (const [how, options] of Object.entries(LEFT)) {
    test(`a process that exits during "${how}" exits immediately, and the guard of its servers ends them`, async () => {
      await using node = await mcpNode()
      const server = node.watch(options)
      const left = await leave(node.folder, server.entry, how)
      assert.deepEqual(left, { code: 0, output: 'leaving, 0 timers keep this process' })
      assert.deepEqual(await leftAfter(server.mark, 10_000), []) // it has read the messages by then
      assert.equal(server.messages('notifications/cancelled').length, how === 'call' ? 1 : 0)
    })
  }
})

/** Runs a process that exits while a server is in that phase; returns how it exited. */
async function leave(
  folder: string,
  entry: McpEntry,
  how: string,
): Promise<{ code: number | null; output: string }> {
  const program = join(import.meta.dirname, 'exiting-program.ts')
  const child = spawn(process.execPath, [program, folder, JSON.stringify(entry), how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    output += piece
  })
  const [code] = await once(child, 'close')
  return { code, output: output.trim() }
}
