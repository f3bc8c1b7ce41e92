import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import { isRunning } from '../../support/mcp/record-folder.ts'
import { livingWith } from '../../support/orphans.ts'
import { until } from '../../support/until.ts'
import { agentWith, kinds, mcpNode, NEVER, offer, run, untilState, waitUntilGone } from '../mcp-node.ts'

describe('servers and their owners', { concurrency: 4 }, () => {
  test('two agents with one declaration share one process', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const [one, two] = [
      agentWith([server.entry]),
      agentWith([{ ...server.entry, name: 'other', exclude: ['add'] }]),
    ]
    await Promise.all([offer(node, one), offer(node, two)])
    const [pidOne, pidTwo] = await Promise.all([
      run(node, one, { name: 'mcp__misbehaving__pid' }),
      run(node, two, { name: 'mcp__other__pid' }),
    ])
    assert.equal(pidOne?.output, pidTwo?.output)
    assert.equal(server.starts().length, 1)
    assert.deepEqual(
      node.servers.peers().map(({ owners }) => owners),
      [
        [
          { agent: one.name, name: 'misbehaving' },
          { agent: two.name, name: 'other' },
        ],
      ],
    )
  })

  const APART: Record<string, (entry: McpEntry, folder: string) => McpEntry> = {
    'one other value in env': (entry) => ({ ...entry, env: { TOKEN: 'other' } }),
    'another directory': (entry, folder) => ({ ...entry, cwd: folder.replace(/[^/]+$/, '') }),
    'share = false': (entry) => ({ ...entry, share: false }),
  }
  for (const [what, change] of Object.entries(APART)) {
    test(`two agents whose declarations differ in ${what} have two processes`, async () => {
      await using node = await mcpNode()
      const server = node.watch()
      const entry = { ...server.entry, env: { TOKEN: 'one' } }
      const agents = [agentWith([entry]), agentWith([change(entry, node.folder)])]
      for (const agent of agents) await offer(node, agent)
      assert.equal(server.starts().length, 2)
      assert.equal(node.servers.peers().length, 2)
    })
  }

  test('a server ends when its last owner leaves, and each owner that leaves is told', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const [one, two] = [agentWith([server.entry]), agentWith([server.entry])]
    for (const agent of [one, two]) await offer(node, agent)
    await node.servers.hook.onUnregisterAgent!(one)
    assert.deepEqual(kinds(node, one.name), ['connecting', 'connected', 'disconnected'])
    assert.deepEqual(node.events.at(-1)!.owners, [{ agent: two.name, name: 'misbehaving' }])
    assert.equal((await run(node, two, { name: 'mcp__misbehaving__pid' }))?.isError, false)
    await node.servers.hook.onUnregisterAgent!(two)
    assert.deepEqual(node.servers.peers(), [])
    await waitUntilGone(server)
    assert.deepEqual(kinds(node, two.name), ['connected', 'disconnected'])
  })

  test('a server whose agent and name change keeps its process', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([server.entry])
    await offer(node, agent)
    const renamed = { ...agent, name: 'renamed', mcps: [{ ...server.entry, name: 'other' }] }
    await node.servers.hook.onRegisterAgent!(renamed)
    assert.deepEqual(
      node.events.slice(-2).map(({ kind, agent: owner, name }) => [kind, owner, name]),
      [
        ['disconnected', agent.name, 'misbehaving'],
        ['connected', 'renamed', 'other'],
      ],
    )
    const { names } = await offer(node, renamed)
    assert.ok(names.includes('mcp__other__echo'))
    assert.equal(server.starts().length, 1)
    assert.deepEqual(node.servers.peers()[0]!.owners, [{ agent: 'renamed', name: 'other' }])
  })

  test('a changed declaration moves to another process, and the old one ends', async () => {
    await using node = await mcpNode()
    const [old, fresh] = [node.watch(), node.watch()]
    const agent = agentWith([old.entry])
    await offer(node, agent)
    await node.servers.hook.onRegisterAgent!({ ...agent, mcps: [fresh.entry] })
    await waitUntilGone(old)
    await untilState(node, 'connected')
    assert.deepEqual([old.starts().length, fresh.starts().length], [1, 1])
  })

  test('a call that runs when its declaration changes is answered, then the old server ends', async () => {
    await using node = await mcpNode()
    const [old, fresh] = [node.watch(), node.watch()]
    const agent = agentWith([old.entry])
    await offer(node, agent)
    const running = run(node, agent, { name: 'mcp__misbehaving__sleep', args: { ms: 600 } })
    await until('it is called', () => old.messages('tools/call').length === 1)
    await node.servers.hook.onRegisterAgent!({ ...agent, mcps: [fresh.entry] })
    assert.equal((await running)?.output, 'slept 600 ms')
    await waitUntilGone(old)
  })

  test('a server that is declared again before its last call is answered stays', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([server.entry])
    await offer(node, agent)
    const running = run(node, agent, { name: 'mcp__misbehaving__sleep', args: { ms: 3_000 } })
    await until('it is called', () => server.messages('tools/call').length === 1)
    await node.servers.hook.onUnregisterAgent!(agent)
    await node.servers.hook.onRegisterAgent!(agent)
    assert.equal((await running)?.isError, false)
    assert.equal(
      (await run(node, agent, { name: 'mcp__misbehaving__echo', args: { text: 'x' } }))?.output,
      'x',
    )
    assert.deepEqual([server.starts().length, node.servers.peers()[0]!.state], [1, 'connected'])
  })

  test('disposing a node does not wait for calls of undeclared servers', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([server.entry])
    await offer(node, agent)
    const running = run(node, agent, { name: 'mcp__misbehaving__sleep', args: { ms: 60_000 } })
    await until('it is called', () => server.messages('tools/call').length === 1)
    await node.servers.hook.onUnregisterAgent!(agent)
    const refused = assert.rejects(running!, { kind: 'unavailable' })
    await node.servers[Symbol.asyncDispose]()
    await refused
  })

  test('a server restarts only when its predecessor is gone', async () => {
    await using node = await mcpNode()
    const server = node.watch({ delay: { exit: 700 } })
    const agent = agentWith([server.entry])
    await offer(node, agent)
    await node.servers.hook.onUnregisterAgent!(agent)
    const [first] = server.starts()
    assert.ok(isRunning(first!))
    await node.servers.connect(agent, 'misbehaving', NEVER)
    assert.equal(server.starts().length, 2)
    assert.ok((await livingWith(server.mark)).every(({ pid }) => pid !== first))
  })

  test('changes of one agent are applied one after another', async () => {
    await using node = await mcpNode()
    const servers = [node.watch(), node.watch(), node.watch()]
    const agent = agentWith([])
    const { hook } = node.servers
    await Promise.all([
      ...servers.map((server) => hook.onRegisterAgent!({ ...agent, mcps: [server.entry] })),
      hook.onUnregisterAgent!(agent),
      hook.onRegisterAgent!({ ...agent, mcps: [servers[1]!.entry] }),
    ])
    await untilState(node, 'connected')
    assert.equal(node.servers.peers().length, 1)
    await waitUntilGone(servers[0]!)
    await waitUntilGone(servers[2]!)
    assert.equal((await livingWith(servers[1]!.mark)).length > 0, true)
  })

  test('a disabled declaration runs nothing and offers nothing', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([{ ...server.entry, disabled: true, required: true }])
    const { names, notices } = await offer(node, agent)
    assert.deepEqual([names, notices, node.servers.peers()], [[], [], []])
    assert.equal(node.servers.view(agent).servers[0]!.state, 'disabled')
    await assert.rejects(node.servers.connect(agent, 'misbehaving', NEVER), {
      kind: 'config',
      message: 'Cannot use the MCP server "misbehaving": it is disabled',
      hint: 'crabtalk mcp enable misbehaving',
    })
    await node.servers.hook.onRegisterAgent!({ ...agent, mcps: [server.entry] })
    await untilState(node, 'connected')
    await node.servers.hook.onRegisterAgent!(agent)
    await waitUntilGone(server)
  })

  test('an undeclared name is missing', async () => {
    await using node = await mcpNode()
    const agent = agentWith([node.watch().entry])
    await assert.rejects(node.servers.connect(agent, 'misbehavin', NEVER), {
      kind: 'missing',
      hint: /misbehaving/,
    })
  })

  test('"a remote server with a header that belongs to the connection is reported as invalid, without a connection"', async () => {
    await using node = await mcpNode()
    const entry = {
      name: 'web',
      url: 'https://me:secret@example.com/mcp?key=secret',
      headers: { 'X-Key': 'secret', Host: 'elsewhere' },
    }
    const agent = agentWith([entry])
    const { names, notices } = await offer(node, agent)
    const why = 'the header "Host" cannot be set: it belongs to the connection'
    assert.deepEqual(names, [])
    assert.ok(notices.join().includes(`"web": ${why}`), notices.join())
    const [peer] = node.servers.peers()
    assert.deepEqual(
      [peer!.state, peer!.transport, peer!.error, peer!.target, peer!.headerNames],
      ['invalid', 'http', why, 'https://[secret]@example.com/mcp?…', ['Host', 'X-Key']],
    )
    await assert.rejects(node.servers.connect(agent, 'web', NEVER), {
      kind: 'config',
      message: /"Host"/,
    })
    assert.deepEqual(node.events, [])
  })
})
