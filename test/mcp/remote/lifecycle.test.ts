import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import { startModern, startSse, startStreamable } from '../../support/mcp/http/official-servers.ts'
import { scriptedServer } from '../../support/mcp/http/scripted-server.ts'
import { until } from '../../support/until.ts'
import { agentWith, kinds, mcpNode, NEVER, offer, run, untilState } from '../mcp-node.ts'

describe('the life of a remote server', { concurrency: 4 }, () => {
  test('is shared by all that declare the same, and separate for another token', async () => {
    await using server = await scriptedServer()
    await using node = await mcpNode()
    const agents = ['one', 'one', 'two'].map((auth) => agentWith([{ name: 'far', url: server.url, auth }]))
    await Promise.all(agents.map((agent) => offer(node, agent)))
    await Promise.all(
      agents.map((agent) => run(node, agent, { name: 'mcp__far__echo', args: { text: 'hi' } })),
    )
    assert.equal(node.servers.peers().length, 2)
    const tokens = server.of('initialize').map(({ headers }) => headers.authorization)
    assert.deepEqual(tokens.toSorted(), ['Bearer one', 'Bearer two'])
    const owners = node.servers.peers().map((peer) => peer.owners.map(({ agent }) => agent).toSorted())
    const [first, second, third] = agents.map(({ name }) => name)
    assert.deepEqual(owners.toSorted(), [[first, second], [third]])
  })

  test('begins with the first call when it is lazy, and ends when it is unused', async () => {
    await using server = await scriptedServer()
    await using node = await mcpNode()
    const entry: McpEntry = { name: 'far', url: server.url, start: 'lazy', idle_timeout_ms: 50 }
    await (await node.servers.verify(agentWith([]), entry, NEVER))[Symbol.asyncDispose]()
    const agent = agentWith([entry])
    await node.servers.hook.onRegisterAgent!(agent)
    assert.deepEqual((await offer(node, agent)).names, ['mcp__far__echo'])
    assert.equal(server.of('initialize').length, 1)
    await run(node, agent, { name: 'mcp__far__echo', args: { text: 'hi' } })
    assert.equal(server.of('initialize').length, 2)
    await untilState(node, 'idle')
    await until('its session is deleted', () => server.of('DELETE').length === 2)
    assert.deepEqual(kinds(node, agent.name), ['connecting', 'connected', 'disconnected'])
  })

  test('has its auth helper named when that takes longer than its start may', async () => {
    await using server = await scriptedServer()
    await using node = await mcpNode()
    const helper = [process.execPath, '-e', 'setInterval(() => {}, 1_000)']
    const entry = { name: 'far', url: server.url, auth_helper: helper, startup_timeout_ms: 1_000 }
    await assert.rejects(node.servers.ping(agentWith([entry]), 'far', NEVER), {
      message: /not ready within 1 s: its auth helper is still running$/,
      hint: /run it by hand/,
    })
  })

  test('is waited for, and fails the turn, when it is required', async () => {
    await using server = await scriptedServer()
    await server.stop()
    await using node = await mcpNode()
    const agent = agentWith([{ name: 'far', url: server.url, required: true }])
    await assert.rejects(offer(node, agent), { kind: 'unavailable', message: /connection refused/ })
    const { notices } = await offer(node, agentWith([{ name: 'far', url: server.url }]))
    assert.match(notices.join(), /connection refused/)
  })

  test('fails to begin in time when the server does not answer', async () => {
    await using server = await scriptedServer({ play: () => true })
    await using node = await mcpNode()
    const agent = agentWith([{ name: 'far', url: server.url, startup_timeout_ms: 200 }])
    await assert.rejects(node.servers.connect(agent, 'far', NEVER), {
      kind: 'unavailable',
      message: /it was not ready within 0\.2 s/,
      hint: /startup_timeout_ms/,
    })
  })

  test('does not delay another server, however many do not answer', async () => {
    await using silent = await scriptedServer({ play: () => true })
    await using node = await mcpNode()
    const program = node.watch({ tools: ['few'] })
    const far = Array.from({ length: 9 }, (_, i) => ({ name: `far${i}`, url: `${silent.url}/${i}` }))
    const agent = agentWith([...far, program.entry])
    await node.servers.hook.onRegisterAgent!(agent)
    await untilState(node, 'connected')
    const states = node.servers.peers().map(({ state }) => state)
    assert.deepEqual([...new Set(states.slice(0, 9))], ['connecting'])
  })

  test('continues after a call that took too long, which is cancelled at the server', async () => {
    await using server = await startStreamable()
    await using node = await mcpNode()
    const agent = agentWith([{ name: 'far', url: server.url, timeout_ms: 200 }])
    await offer(node, agent)
    const call = async () => run(node, agent, { name: 'mcp__far__wait', args: { name: 'one' } })
    await assert.rejects(call, { kind: 'timeout', message: /did not answer within 0\.2 s/ })
    await until('the server knows', () => server.cancelled.length === 1)
    assert.equal(node.servers.peers()[0]!.state, 'connected')
  })

  for (const [name, start] of [
    ['MCP 2026-07-28', startModern],
    ['Streamable HTTP', startStreamable],
    ['server-sent events', startSse],
  ] as const) {
    test(`ends when a server that speaks ${name} is gone, even without a call`, async () => {
      await using server = await start()
      await using node = await mcpNode()
      const agent = agentWith([{ name: 'far', url: server.url }])
      await offer(node, agent)
      await until('it has a stream', () => server.requests.length > 2)
      await server.stop()
      await untilState(node, 'failed')
      assert.deepEqual(kinds(node, agent.name), ['connecting', 'connected', 'failed'])
      assert.deepEqual((await offer(node, agent)).names.length, 2)
    })
  }

  test('ends with its stream if that is the connection, also when the server is there again', async () => {
    await using server = await startSse()
    await using node = await mcpNode()
    const agent = agentWith([{ name: 'far', url: server.url }])
    await offer(node, agent)
    await server.restart()
    await untilState(node, 'failed')
    assert.equal((await run(node, agent, { name: 'mcp__far__echo', args: { text: 'hi' } }))!.output, 'hi')
    assert.equal(node.servers.peers()[0]!.starts, 2)
  })

  test('begins again with growing delays, and immediately on request', async () => {
    await using server = await scriptedServer()
    await using node = await mcpNode()
    const agent = agentWith([{ name: 'far', url: server.url }])
    await offer(node, agent)
    await server.stop()
    const call = async () => run(node, agent, { name: 'mcp__far__echo', args: { text: 'hi' } })
    await assert.rejects(call, /cannot be reached/)
    for (const pause of [5_000, 10_000, 20_000]) {
      await assert.rejects(call, /connection refused/)
      assert.equal(node.servers.peers()[0]!.nextRetryAt, node.now() + pause)
      await assert.rejects(call, { message: new RegExp(`can be retried in ${pause / 1000} s`) })
      node.advancedMs += pause
    }
    await assert.rejects(call, /connection refused/)
    await server.restart()
    await assert.rejects(call, /can be retried in 40 s/)
    await node.servers.reconnect(agent, 'far', NEVER)
    assert.equal((await call())!.output, 'hi')
  })

  test('ends with a process that exits, which waits for nothing and still sends the end', async () => {
    await using server = await startStreamable()
    await using node = await mcpNode()
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    child.stdin.end(leavingProgram(node.folder, server.url))
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    assert.deepEqual([output, code], ['connected\n', 0])
    assert.equal(server.requests.at(-1), 'DELETE /mcp')
  })
})

/** Opens a connection with a stream, and exits as a one-shot command does. */
function leavingProgram(folder: string, url: string): string {
  const source = (path: string) => JSON.stringify(join(import.meta.dirname, '../../../src', path))
  return `import { openProcessHost } from ${source('core/process/process-host.ts')}
import { openMcpServers } from ${source('mcp/open-servers.ts')}
const home = ${JSON.stringify(folder)}
const processes = openProcessHost({ pid: process.pid })
const servers = openMcpServers({ processes, home, baseEnv: {}, cacheDir: home, env: {}, now: Date.now, wait: () => new Promise(() => {}), startsKnown: true })
const agent = { id: 'A', name: 'crab', tools: [], mcps: [{ name: 'far', url: ${JSON.stringify(url)} }] }
const { state } = await servers.connect(agent, 'far', new AbortController().signal)
console.log(state)
servers.release()
`
}
