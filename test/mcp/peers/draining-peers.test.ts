import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AgentConfig } from '../../../src/core/config/agent-schema.ts'
import { BEHAVIOURS } from '../../support/mcp/mcp-servers.ts'
import { isRunning } from '../../support/mcp/record-folder.ts'
import { until } from '../../support/until.ts'
import { agentWith, type McpNode, mcpNode, NEVER, offer, run, waitUntilGone } from '../mcp-node.ts'

describe('a server that is ending after it was declared and released', {
  concurrency: 2,
}, () => {
  test('is waited for by the next server of that kind', async () => {
    await using node = await mcpNode()
    const server = node.watch(BEHAVIOURS.stubborn)
    const agent = await leaveTwice(node, agentWith([server.entry]))
    const [first] = server.starts()
    assert.ok(isRunning(first!))
    const connecting = node.servers.connect(agent, 'misbehaving', NEVER)
    await until('the next is started', () => server.starts().length === 2)
    assert.equal(isRunning(first!), false)
    await connecting
  })

  test('is waited for by its node when the node ends', async () => {
    await using node = await mcpNode()
    const server = node.watch(BEHAVIOURS.stubborn)
    await leaveTwice(node, agentWith([server.entry]))
    const [first] = server.starts()
    assert.ok(isRunning(first!))
    await node.servers[Symbol.asyncDispose]()
    assert.equal(isRunning(first!), false)
  })
})

test('a verification uses an undeclared server that a turn still holds, and keeps it running', async () => {
  await using node = await mcpNode()
  const server = node.watch()
  const agent = agentWith([server.entry])
  const over = new AbortController()
  await node.servers.hook.schema!(agent, { emit: () => {}, signal: NEVER, turnOver: over.signal })
  await node.servers.hook.onUnregisterAgent!(agent)
  await using verified = await node.servers.verify(agent, agent.mcps[0]!, NEVER)
  assert.equal(verified.peer.state, 'connected')
  await verified[Symbol.asyncDispose]()
  const { output } = (await run(node, agent, { name: 'mcp__misbehaving__echo', args: { text: 'x' } }))!
  assert.deepEqual([output, server.starts().length], ['x', 1])
  over.abort()
  await waitUntilGone(server)
})

test('a verification keeps a server running whose last owner releases it meanwhile', async () => {
  for (const isDeclaredBefore of [true, false]) {
    await using node = await mcpNode()
    const server = node.watch()
    const [owner, next] = [agentWith([server.entry]), agentWith([server.entry])]
    if (isDeclaredBefore) await offer(node, owner)
    const verified = await node.servers.verify(next, next.mcps[0]!, NEVER)
    if (!isDeclaredBefore) await node.servers.hook.onRegisterAgent!(owner)
    await node.servers.hook.onUnregisterAgent!(owner)
    await node.servers.hook.onRegisterAgent!(next)
    await verified[Symbol.asyncDispose]()
    await offer(node, next)
    const { output } = (await run(node, next, { name: 'mcp__misbehaving__echo', args: { text: 'x' } }))!
    assert.deepEqual([output, server.starts().length], ['x', 1], `declared before: ${isDeclaredBefore}`)
    await node.servers.hook.onUnregisterAgent!(next)
    await waitUntilGone(server)
  }
})

test('the end of a verification ends a server that was released meanwhile and has no other owner', async () => {
  await using node = await mcpNode()
  const server = node.watch()
  const agent = agentWith([server.entry])
  await offer(node, agent)
  const verified = await node.servers.verify(agent, agent.mcps[0]!, NEVER)
  await node.servers.hook.onUnregisterAgent!(agent)
  await verified[Symbol.asyncDispose]()
  await waitUntilGone(server)
})

test('a verified server is gone before the same one is started', async () => {
  await using node = await mcpNode()
  const server = node.watch(BEHAVIOURS.stubborn)
  const agent = agentWith([server.entry])
  const verified = await node.servers.verify(agent, agent.mcps[0]!, NEVER)
  const [first] = server.starts()
  const closing = verified[Symbol.asyncDispose]()
  const connecting = node.servers.connect(agent, 'misbehaving', NEVER)
  await until('the next is started', () => server.starts().length === 2)
  assert.equal(isRunning(first!), false)
  await Promise.all([closing, connecting])
})

test('a node that is ending accepts no agents and no verifications', async () => {
  await using node = await mcpNode()
  const server = node.watch()
  const agent = agentWith([server.entry])
  const registering = node.servers.hook.onRegisterAgent!(agent)
  const verifying = node.servers.verify(agent, { ...server.entry, name: 'other', args: ['x'] }, NEVER)
  await Promise.all([
    node.servers[Symbol.asyncDispose](),
    registering,
    assert.rejects(verifying, { kind: 'unavailable', message: /"other": crabtalk is shutting down$/ }),
  ])
  assert.deepEqual(node.servers.peers(), [])
  assert.deepEqual(server.starts(), [])
})

/** Starts the server of an agent and releases it, twice; the second one was never needed. */
async function leaveTwice(node: McpNode, agent: AgentConfig): Promise<AgentConfig> {
  const { hook } = node.servers
  const lazy = { ...agent, mcps: agent.mcps.map((entry) => ({ ...entry, start: 'lazy' as const })) }
  await offer(node, agent)
  await hook.onUnregisterAgent!(agent)
  await hook.onRegisterAgent!(lazy)
  await hook.onUnregisterAgent!(lazy)
  return lazy
}
