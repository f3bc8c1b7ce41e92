import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { AgentConfig } from '../../../src/core/config/agent-schema.ts'
import type { AgentEvent } from '../../../src/core/runtime/events.ts'
import type { Claim } from '../../../src/mcp/peers/peer.ts'
import { Peers } from '../../../src/mcp/peers/peers.ts'
import { ServerMemory } from '../../../src/mcp/peers/server-memory.ts'
import { isRunning } from '../../support/mcp/record-folder.ts'
import { until } from '../../support/until.ts'
import { agentWith, kinds, type McpNode, mcpNode, NEVER, run, waitUntilGone } from '../mcp-node.ts'

const ECHO = { name: 'mcp__misbehaving__echo', args: { text: 'x' } }

describe('a running turn', { concurrency: 4 }, () => {
  test('keeps the servers it started with, whatever is declared meanwhile, and releases them at its end', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([server.entry])
    using turn = await beginTurn(node, agent)
    await node.servers.hook.onRegisterAgent!({ ...agent, mcps: [] })
    assert.deepEqual(node.servers.peers(), [])
    assert.equal((await run(node, agent, ECHO))?.output, 'x')
    assert.deepEqual(kinds(node, agent.name), ['connecting', 'connected', 'disconnected'])
    turn[Symbol.dispose]()
    await waitUntilGone(server)
    assert.equal(server.starts().length, 1)
  })

  test('keeps the filters it started with', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([server.entry])
    using _turn = await beginTurn(node, agent)
    await node.servers.hook.onRegisterAgent!({ ...agent, mcps: [{ ...server.entry, exclude: ['echo'] }] })
    assert.equal((await run(node, agent, ECHO))?.output, 'x')
    const next = { ...agent, mcps: [{ ...server.entry, exclude: ['echo'] }] }
    using _next = await beginTurn(node, next)
    assert.equal(await run(node, next, ECHO), undefined)
  })

  test('has the tools of the servers it started with, also when it asks for them again', async () => {
    await using node = await mcpNode()
    const [server, fresh] = [node.watch(), node.watch({}, { name: 'fresh' })]
    const agent = agentWith([server.entry])
    const over = new AbortController()
    const turn = { emit() {}, signal: NEVER, turnOver: over.signal }
    const before = await node.servers.hook.schema!(agent, turn)
    await node.servers.hook.onRegisterAgent!({ ...agent, mcps: [fresh.entry] })
    const look = async () =>
      node.servers.hook.schema!({ ...agent, mcps: [fresh.entry] }, { emit() {}, signal: NEVER })
    const next = await look()
    assert.deepEqual([before[0]?.server, next[0]?.server], ['misbehaving', 'fresh'])
    assert.deepEqual(await node.servers.hook.schema!(agent, turn), before)
    assert.deepEqual(
      node.servers.hook.groups!(agent).map(({ id }) => id),
      ['mcp:misbehaving'],
    )
    assert.equal((await run(node, agent, ECHO))?.output, 'x')
    assert.deepEqual(await look(), next)
    over.abort()
    await waitUntilGone(server)
  })

  test('waits for no server when it asks for its tools again, and does not fail because of one', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([{ ...server.entry, required: true }])
    const over = new AbortController()
    const events: AgentEvent[] = []
    const turn = {
      emit: (event: AgentEvent) => void events.push(event),
      signal: NEVER,
      turnOver: over.signal,
    }
    const before = await node.servers.hook.schema!(agent, turn)
    const act = { name: 'mcp__misbehaving__act', args: { how: 'exit' } }
    await assert.rejects(async () => run(node, agent, act), { kind: 'unavailable' })
    events.length = 0
    assert.deepEqual(await node.servers.hook.schema!(agent, turn), before)
    assert.deepEqual([server.starts().length, events], [1, []])
    over.abort()
  })

  test('that waited long uses the declarations of that time, and revives no old server', async () => {
    await using node = await mcpNode()
    const [old, fresh] = [node.watch(), node.watch()]
    const agent = agentWith([old.entry])
    await node.servers.hook.onRegisterAgent!(agent)
    await node.servers.hook.onRegisterAgent!({ ...agent, mcps: [fresh.entry] })
    using _turn = await beginTurn(node, agent)
    assert.equal((await run(node, agent, ECHO))?.output, 'x')
    assert.equal(fresh.messages('tools/call').length, 1)
    await waitUntilGone(old)
    assert.equal(node.servers.peers().length, 1)
  })

  test('restarts a server that ended and is no longer declared', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([server.entry])
    using turn = await beginTurn(node, agent)
    await node.servers.hook.onUnregisterAgent!(agent)
    const act = { name: 'mcp__misbehaving__act', args: { how: 'exit' } }
    await assert.rejects(async () => run(node, agent, act), { kind: 'unavailable' })
    assert.equal((await run(node, agent, ECHO))?.output, 'x')
    assert.equal(server.starts().length, 2)
    assert.deepEqual(kinds(node, agent.name), ['connecting', 'connected', 'disconnected'])
    turn[Symbol.dispose]()
    await waitUntilGone(server)
  })

  test('returns its servers to agents that declare them again before its end', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([server.entry])
    const turn = await beginTurn(node, agent)
    await node.servers.hook.onUnregisterAgent!(agent)
    await node.servers.hook.onRegisterAgent!(agent)
    turn[Symbol.dispose]()
    assert.equal((await run(node, agent, ECHO))?.output, 'x')
    assert.equal(server.starts().length, 1)
  })

  test('does not prevent its servers from ending with the node', async () => {
    await using node = await mcpNode()
    const { processes, folder, now } = node
    const wait = () => new Promise(() => {})
    const memory = new ServerMemory(join(folder, 'cache', 'mcp'))
    const peers = new Peers({ processes, memory, home: folder, baseEnv: {}, env: process.env, now, wait })
    const server = node.watch()
    const agent = agentWith([server.entry])
    await peers.register(agent)
    const [{ peer }] = peers.getClaims(agent.id) as [Claim]
    await peer.connect({}, NEVER)
    using _held = peer.hold()
    await peers.unregister(agent.id)
    await peers.end()
    await waitUntilGone(server)
  })
})

test('the defaults of all servers apply below the keys of an entry', async () => {
  await using node = await mcpNode({ entryDefaults: { start: 'lazy' } })
  const [own, plain] = [node.watch(), node.watch()]
  const agent = agentWith([
    { ...own.entry, start: 'eager' },
    { ...plain.entry, name: 'plain' },
  ])
  await node.servers.hook.onRegisterAgent!(agent)
  await until('one is connected', () => node.servers.peers().some(({ state }) => state === 'connected'))
  assert.deepEqual([own.starts().length, plain.starts().length], [1, 0])
})

test('setBaseEnv() restarts servers with the new environment, and turns keep theirs', async () => {
  await using node = await mcpNode()
  const [server, fixed] = [node.watch(), node.watch({}, { name: 'fixed', env: { A: '0' } })]
  const agent = agentWith([server.entry])
  const other = agentWith([fixed.entry])
  await node.servers.hook.onRegisterAgent!(other)
  const turn = await beginTurn(node, agent)
  const readEnv = async (one: AgentConfig) =>
    JSON.parse((await run(node, one, { name: 'mcp__misbehaving__env', args: {} }))!.output)
  const { CRAB_TEST, A } = await readEnv(agent)
  const { generation } = node.servers.view(agent)
  await node.servers.setBaseEnv({ A: '1', CRAB_TEST })
  assert.deepEqual([A, (await readEnv(agent))['A']], [undefined, undefined])
  assert.ok(node.servers.view(agent).generation > generation)
  const next = { ...agent }
  using _next = await beginTurn(node, next)
  assert.equal((await readEnv(next))['A'], '1')
  const [old] = server.starts()
  turn[Symbol.dispose]()
  await until('the old one has ended', () => !isRunning(old!))
  assert.deepEqual([server.starts().length, fixed.starts().length], [2, 1])
})

/** Asks for the tools of an agent as a turn does that ends when it is disposed. */
async function beginTurn(node: McpNode, agent: AgentConfig): Promise<Disposable> {
  const over = new AbortController()
  const emit = (_: AgentEvent) => {}
  await node.servers.hook.schema!(agent, { emit, signal: NEVER, turnOver: over.signal })
  return { [Symbol.dispose]: () => over.abort() }
}
