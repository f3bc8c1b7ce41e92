import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type OfficialServer,
  startModern,
  startSse,
  startStreamable,
} from '../../support/mcp/http/official-servers.ts'
import { until } from '../../support/until.ts'
import { agentWith, type McpNode, mcpNode, NEVER, offer, run } from '../mcp-node.ts'

const KINDS = [
  { name: 'MCP 2026-07-28', start: () => startModern(), version: '2026-07-28' },
  { name: 'both forms of MCP', start: () => startModern('stateless'), version: '2026-07-28' },
  { name: 'Streamable HTTP with sessions', start: startStreamable, version: '2025-11-25' },
  { name: 'HTTP with server-sent events', start: startSse, version: '2025-11-25' },
] as const

describe('a server of an official SDK by its URL', () => {
  for (const { name, start, version } of KINDS) {
    test(`that speaks ${name} is connected, listed, called, cancelled, and notifies of changed tools`, async () => {
      await using server = await start()
      await using node = await mcpNode()
      const agent = agentWith([{ name: 'far', url: server.url }])
      assert.deepEqual((await offer(node, agent)).names, ['mcp__far__echo', 'mcp__far__wait'])
      const [peer] = node.servers.peers()
      assert.deepEqual([peer!.state, peer!.protocolVersion, peer!.starts], ['connected', version, 1])
      const { output } = (await run(node, agent, { name: 'mcp__far__echo', args: { text: 'hi' } }))!
      assert.equal(output, 'hi')
      await node.servers.ping(agent, 'far', NEVER)
      await assertCancelled(node, server, agent)
      server.addTool('more')
      await until('the new tool is known', async () => {
        return (await offer(node, agent)).names.includes('mcp__far__more')
      })
      assert.equal(node.servers.peers()[0]!.starts, 1)
    })
  }

  test('that speaks 2024-11-05 is probed for a newer revision once; the next node does not probe', async () => {
    await using server = await startSse()
    await using node = await mcpNode()
    const agent = agentWith([{ name: 'far', url: server.url }])
    await node.servers.connect(agent, 'far', NEVER)
    assert.deepEqual(server.requests.slice(0, 3), ['POST /sse', 'POST /sse', 'GET /sse'])
    await node.servers[Symbol.asyncDispose]()
    const before = server.requests.length
    await using advancedMs = await node.openAnother()
    await advancedMs.servers.connect(agent, 'far', NEVER)
    assert.deepEqual([...new Set(server.requests.slice(before))], ['GET /sse', 'POST /message'])
  })

  test('with transport "sse" is asked for its stream only', async () => {
    await using server = await startSse()
    await using node = await mcpNode()
    const agent = agentWith([{ name: 'far', url: server.url, transport: 'sse' }])
    await node.servers.connect(agent, 'far', NEVER)
    assert.equal(server.requests.includes('POST /sse'), false)
    assert.equal(node.servers.peers()[0]!.transport, 'sse')
  })

  test('with transport "sse" that speaks something else is reported as refusing it', async () => {
    await using server = await startStreamable()
    await using node = await mcpNode()
    const agent = agentWith([{ name: 'far', url: server.url, transport: 'sse' }])
    await assert.rejects(node.servers.connect(agent, 'far', NEVER), {
      kind: 'unavailable',
      message: /HTTP 4\d\d/,
    })
  })

  for (const { name, start } of KINDS) {
    test(`that speaks ${name} and stops fails the next call; the call after it reconnects`, async () => {
      await using server = await start()
      await using node = await mcpNode()
      const agent = agentWith([{ name: 'far', url: server.url }])
      await node.servers.connect(agent, 'far', NEVER)
      const call = () => run(node, agent, { name: 'mcp__far__echo', args: { text: 'hi' } })
      await offer(node, agent)
      await server.stop()
      await assert.rejects(call, { kind: 'unavailable' })
      assert.equal(node.servers.peers()[0]!.state, 'failed')
      await server.restart()
      node.advancedMs += 60_000
      assert.equal((await call())!.output, 'hi')
      assert.equal(node.servers.peers()[0]!.starts, 2)
    })
  }
})

async function assertCancelled(
  node: McpNode,
  server: OfficialServer,
  agent: Parameters<typeof run>[1],
): Promise<void> {
  const stop = new AbortController()
  const call = run(node, agent, { name: 'mcp__far__wait', args: { name: 'one' } }, stop.signal)
  const refused = assert.rejects(async () => await call, { kind: 'cancelled' })
  await until('the call is there', () => server.waiting.length === 1)
  stop.abort()
  await refused
  await until('the server knows', () => server.cancelled.length === 1)
}
