import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentWith, kinds, mcpNode, NEVER, offer, run, waitUntilGone } from './mcp-node.ts'

test('view() shows what an agent has, and why the rest is hidden', async () => {
  await using node = await mcpNode()
  const few = node.watch({ tools: ['few', 'twins'] }).entry
  const agent = agentWith(
    [
      { ...few, name: 'a', exclude: ['add'] },
      { ...few, name: 'b', disabled: true },
    ],
    { tools: ['mcp__a__echo'] },
  )
  await offer(node, agent)
  const { agent: name, servers } = node.servers.view(agent)
  assert.deepEqual(
    [name, servers.map((server) => [server.name, server.state])],
    [
      agent.name,
      [
        ['a', 'connected'],
        ['b', 'disabled'],
      ],
    ],
  )
  assert.deepEqual(
    servers[0]!.tools.map((tool) => [tool.remoteName, tool.name, tool.hidden]),
    [
      ['echo', 'mcp__a__echo', ''],
      ['add', '', 'exclude has add'],
      ['twin', '', "the agent's tools do not include mcp__a__twin"],
      ['between', '', "the agent's tools do not include mcp__a__between"],
      ['twin', '', 'its name is taken'],
    ],
  )
})

test('view() starts nothing, and shows what is stored for an agent that is not registered', async () => {
  await using node = await mcpNode()
  const server = node.watch({ tools: ['few'] })
  await (await node.servers.verify(agentWith([]), server.entry, NEVER))[Symbol.asyncDispose]()
  await using other = await node.openAnother()
  const agent = agentWith([server.entry, { name: 'web', url: 'https://example.com', headers: { Host: 'a' } }])
  const { generation, servers } = other.servers.view(agent)
  assert.deepEqual(
    [generation, servers.map(({ state, tools }) => [state, tools.map(({ name }) => name)])],
    [
      0,
      [
        ['idle', ['mcp__misbehaving__echo', 'mcp__misbehaving__add']],
        ['invalid', []],
      ],
    ],
  )
  assert.deepEqual([other.servers.peers(), server.starts().length], [[], 1])
})

test('peers() shows a connection without its secrets', async () => {
  await using node = await mcpNode()
  const entry = { ...node.watch({ tools: ['few'] }).entry, env: { B_KEY: 'hush-hush', A: '1' } }
  const agent = agentWith([entry])
  await offer(node, agent)
  const [peer] = node.servers.peers()
  assert.deepEqual(peer!.envNames, ['A', 'B_KEY', 'CRAB_TEST'])
  assert.ok(!JSON.stringify(peer).includes('hush-hush'))
  assert.match(peer!.target, /misbehaving-server\.\w+'? .*--tools=few/)
  assert.deepEqual(
    [peer!.toolCount, peer!.transport, peer!.protocolVersion, peer!.failures, peer!.nextRetryAt, peer!.error],
    [2, 'stdio', '2025-11-25', 0, undefined, ''],
  )
  assert.ok(peer!.schemaTokens > 20 && peer!.schemaTokens < 200)
  assert.ok(peer!.pid! > 0 && peer!.connectedAt! > 0)
})

test('generations increase only when the tools of an agent change', async () => {
  await using node = await mcpNode()
  const [agent, other] = [agentWith([node.watch({ tools: ['few'] }).entry]), agentWith([])]
  const generation = () => node.servers.view(agent).generation
  await offer(node, agent)
  const first = generation()
  await offer(node, agent)
  await node.servers.hook.onRegisterAgent!(other)
  await node.servers.reconnect(agent, 'misbehaving', NEVER)
  await node.servers.hook.onRegisterAgent!({ ...agent, description: 'Another' })
  assert.equal(generation(), first)
  await node.servers.hook.onRegisterAgent!({ ...agent, mcps: [{ ...agent.mcps[0]!, exclude: ['add'] }] })
  assert.ok(generation() > first)
})

test('verify() tests an entry and leaves no process behind, and the first turn need not wait for its list', async () => {
  await using node = await mcpNode()
  const server = node.watch({ tools: ['few'] })
  const entry = { ...server.entry, exclude: ['add'] }
  const verified = await node.servers.verify(agentWith([]), entry, NEVER)
  const { peer, tools } = verified
  assert.deepEqual([peer.state, peer.toolCount, peer.owners], ['connected', 2, []])
  assert.deepEqual(
    tools.map(({ remoteName, name, hidden }) => [remoteName, name, hidden]),
    [
      ['echo', 'mcp__misbehaving__echo', ''],
      ['add', '', 'exclude has add'],
    ],
  )
  assert.deepEqual([node.servers.peers(), node.events], [[], []])
  await verified[Symbol.asyncDispose]()
  await waitUntilGone(server)
  const agent = agentWith([{ ...server.entry, start: 'lazy' }])
  assert.equal((await offer(node, agent)).names.length, 2)
  assert.equal(server.starts().length, 1)
})

test('a server that verify() started is reused once it is declared, and its owner is told', async () => {
  await using node = await mcpNode()
  const server = node.watch({ tools: ['few'] })
  const agent = agentWith([server.entry])
  {
    await using verified = await node.servers.verify(agentWith([]), agent.mcps[0]!, NEVER)
    await node.servers.hook.onRegisterAgent!(agent)
    assert.deepEqual(kinds(node, agent.name), ['connected'])
    assert.equal(node.servers.peers()[0]!.pid, verified.peer.pid)
  }
  await run(node, agent, { name: 'mcp__misbehaving__echo', args: { text: 'x' } })
  const [peer] = node.servers.peers()
  assert.deepEqual([peer!.state, peer!.owners.length, server.starts().length], ['connected', 1, 1])
  await node.servers.hook.onUnregisterAgent!(agent)
  await waitUntilGone(server)
})

test('a server that is being verified ends with its node', async () => {
  await using node = await mcpNode()
  const server = node.watch({ tools: ['few'] })
  await node.servers.verify(agentWith([]), server.entry, NEVER)
  await node.servers[Symbol.asyncDispose]()
  await waitUntilGone(server)
})

test('verify() checks a server that is already running, and keeps it running', async () => {
  await using node = await mcpNode()
  const server = node.watch({ tools: ['few'] })
  await offer(node, agentWith([server.entry]))
  const looked = await node.servers.verify(agentWith([]), { ...server.entry, name: 'other' }, NEVER)
  const { peer } = looked
  await looked[Symbol.asyncDispose]()
  assert.deepEqual([peer.owners.length, server.starts().length], [1, 1])
  assert.equal(node.servers.peers()[0]!.state, 'connected')
})

test('verify() fails with the reason, and stores it', async () => {
  await using node = await mcpNode()
  const server = node.watch({ at: { start: 'crash' } })
  await assert.rejects(node.servers.verify(agentWith([]), server.entry, NEVER), {
    kind: 'unavailable',
    message: /"misbehaving": it exited with code 1: Error: cannot open the database/,
  })
  assert.match(
    (await offer(node, agentWith([server.entry]))).notices.join(),
    /cannot open the database.*; its tools are left out/,
  )
})

test('verify() starts an unshared server for the agent that will have it', async () => {
  await using node = await mcpNode()
  const server = node.watch({ tools: ['few'] })
  const agent = agentWith([{ ...server.entry, share: false, start: 'lazy' }])
  await (await node.servers.verify(agent, agent.mcps[0]!, NEVER))[Symbol.asyncDispose]()
  assert.equal((await offer(node, agent)).names.length, 2)
  assert.equal(server.starts().length, 1)
})

test("view() and peers() show an earlier process's error and its time, without starting anything", async () => {
  await using node = await mcpNode()
  const server = node.watch({ at: { start: 'crash' } })
  const agent = agentWith([{ ...server.entry, start: 'lazy' }])
  await assert.rejects(node.servers.verify(agent, agent.mcps[0]!, NEVER))
  const starts = server.starts().length
  await using other = await node.openAnother()
  for (const _ of ['unregistered', 'registered']) {
    const { state, error, lastErrorAt, isListed } = other.servers.view(agent).servers[0]!
    assert.deepEqual([state, isListed], ['failed', false])
    assert.match(error, /^it exited with code 1: Error: cannot open the database/)
    assert.ok(Math.abs(lastErrorAt! - Date.now()) < 60_000)
    await other.servers.hook.onRegisterAgent!(agent)
  }
  assert.equal(other.servers.peers()[0]!.state, 'failed')
  assert.equal(server.starts().length, starts)
})

test('view() distinguishes a server without tools from one whose tools are unknown', async () => {
  await using node = await mcpNode()
  const [empty, unknown] = [node.watch({ tools: ['none'] }), node.watch()]
  const agent = agentWith([empty.entry, { ...unknown.entry, name: 'unknown' }])
  await (await node.servers.verify(agent, empty.entry, NEVER))[Symbol.asyncDispose]()
  const views = node.servers.view(agent).servers
  assert.deepEqual(
    views.map(({ isListed, tools }) => [isListed, tools.length]),
    [
      [true, 0],
      [false, 0],
    ],
  )
})
