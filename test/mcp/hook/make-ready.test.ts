import assert from 'node:assert/strict'
import { readdir, readFile, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import type { McpServerEvent } from '../../../src/core/runtime/events.ts'
import { BEHAVIOURS } from '../../support/mcp/mcp-servers.ts'
import type { ServerOptions } from '../../support/mcp/options.ts'
import { until } from '../../support/until.ts'
import {
  agentWith,
  type McpNode,
  mcpNode,
  NEVER,
  type Offered,
  offer,
  run,
  storeOldList,
  untilState,
} from '../mcp-node.ts'

describe('what a turn is offered', { concurrency: 4 }, () => {
  const HANGING = { at: { initialize: 'hang' } } as const satisfies ServerOptions

  test('an agent without servers has no tools, and nothing is read or written', async () => {
    await using node = await mcpNode()
    const agent = agentWith([])
    await node.servers.hook.onRegisterAgent!(agent)
    assert.deepEqual((await offer(node, agent)).tools, [])
    assert.deepEqual(await readdir(node.folder), [])
  })

  test('unknown servers are waited for, all in parallel, and their events are reported', async () => {
    await using node = await mcpNode()
    const entries = ['a', 'b', 'c'].map((name) => watchEntry(node, { delay: { start: 300 } }, { name }))
    const agent = agentWith(entries)
    const { names, reported } = await offer(node, agent)
    for (const name of ['a', 'b', 'c']) {
      assert.ok(names.includes(`mcp__${name}__echo`))
      assert.deepEqual(
        states(reported).flatMap((event) => (event.name === name ? event.kind : [])),
        ['connecting', 'connected'],
      )
    }
    const kindsInOrder = states(reported).map(({ kind }) => kind)
    assert.deepEqual(kindsInOrder.slice(0, 3), ['connecting', 'connecting', 'connecting'])
  })

  test('tools come in the order of declarations, sorted within a server', async () => {
    await using node = await mcpNode()
    const agent = agentWith([
      watchEntry(node, { tools: ['few'] }, { name: 'z' }),
      watchEntry(node, { tools: ['few'] }, { name: 'a', include: ['echo'] }),
    ])
    const { tools } = await offer(node, agent)
    assert.deepEqual(tools, [
      spec('z', 'add', 'Adds two numbers', { a: 'number', b: 'number' }),
      spec('z', 'echo', 'Says it again', { text: 'string' }),
      spec('a', 'echo', 'Says it again', { text: 'string' }),
    ])
  })

  test('a turn that starts while a server is starting is told so', async () => {
    await using node = await mcpNode()
    const agent = agentWith([watchEntry(node, { delay: { start: 300 } })])
    await node.servers.hook.onRegisterAgent!(agent)
    const { reported } = await offer(node, agent)
    assert.deepEqual(
      states(reported).map(({ kind, agent: owner }) => [kind, owner]),
      [
        ['connecting', agent.name],
        ['connected', agent.name],
      ],
    )
  })

  test('a server that another process has connected before is not waited for', async () => {
    await using node = await mcpNode()
    const server = node.watch({ at: { start: 'hang' } })
    const remembered = await storeOldList(node, server.entry)
    const agent = agentWith([server.entry])
    await node.servers.hook.onRegisterAgent!(agent)
    const { names, notices } = await offer(node, agent)
    assert.deepEqual([names, notices], [remembered, []])
    assert.equal(node.servers.peers()[0]!.state, 'connecting')
  })

  test('the next turn has the real list when it differs from the stored one', async () => {
    await using node = await mcpNode()
    const entry = watchEntry(node, { tools: ['few'] })
    await storeOldList(node, entry)
    const agent = agentWith([entry])
    await node.servers.hook.onRegisterAgent!(agent)
    const { names } = await offer(node, agent)
    assert.deepEqual(names, ['mcp__misbehaving__old'])
    await untilState(node, 'connected')
    assert.deepEqual((await offer(node, agent)).names, ['mcp__misbehaving__add', 'mcp__misbehaving__echo'])
    await assert.rejects(
      run(node, agent, { name: 'mcp__misbehaving__old' }).then((answer) => assert.ok(answer)),
    )
  })

  test('a stored tool that no longer exists is refused before the server is called', async () => {
    await using node = await mcpNode()
    const server = node.watch({ tools: ['few'] })
    await storeOldList(node, server.entry)
    const agent = agentWith([server.entry])
    await offer(node, agent)
    await assert.rejects(run(node, agent, { name: 'mcp__misbehaving__old' })!, {
      kind: 'missing',
      message: /it no longer has this tool/,
    })
    assert.deepEqual(server.messages('tools/call'), [])
  })

  test('the stored facts about a server contain no configuration, and are private', async () => {
    await using node = await mcpNode({ baseEnv: { BASE_KEY: 'base-secret' } })
    const entry = watchEntry(node, {}, { env: { API_KEY: 'sk-secret' } })
    await offer(node, agentWith([entry]))
    await until('it is written', async () => (await readMemory(node)).includes('"echo"'))
    const folder = join(node.folder, 'cache', 'mcp')
    const [file] = (await readdir(folder)).filter(isWhole)
    assert.equal((await stat(join(folder, file!))).mode & 0o777, 0o600)
    const text = await readMemory(node)
    for (const secret of ['sk-secret', 'base-secret', 'API_KEY', '--mark', 'misbehaving-server']) {
      assert.ok(!text.includes(secret))
    }
  })

  test('a failed server leaves a turn without its tools, with one notice: who, why, and what to do', async () => {
    await using node = await mcpNode()
    const agent = agentWith([
      watchEntry(node, BEHAVIOURS.crashOnStart, { name: 'bad' }),
      watchEntry(node, { tools: ['few'] }, { name: 'good' }),
    ])
    const { names, notices } = await offer(node, agent)
    assert.deepEqual(names, ['mcp__good__add', 'mcp__good__echo'])
    assert.deepEqual(notices, [
      'Cannot use the MCP server "bad": it exited with code 1: Error: cannot open the database: /var/empty/db: ' +
        `permission denied; its tools are left out (crabtalk mcp ping bad -a ${agent.name} tries it again)`,
    ])
  })

  test('a server whose entry is invalid is named with the place to correct it, also when it is the only one', async () => {
    await using node = await mcpNode()
    const problem = { file: 'agents/a.toml', line: 7, column: undefined, key: '', message: 'unknown key "x"' }
    const invalidMcps = [{ name: 'bad', index: 0, problems: [{ ...problem, hint: undefined }] }]
    assert.deepEqual((await offer(node, agentWith([], { invalidMcps }))).notices, [
      'Cannot use the MCP server "bad": its entry is invalid: unknown key "x"; its tools are left out ' +
        '(correct it in agents/a.toml:7)',
    ])
  })

  test('a server that failed recently is not waited for beyond half a second, also by the next process', async () => {
    await using node = await mcpNode()
    const server = node.watch({ at: { start: 'crash' }, first: 2, delay: { initialize: 1_500 } })
    const agent = agentWith([server.entry])
    await node.servers.connect(agent, 'misbehaving', NEVER).catch(() => undefined)
    await node.servers.hook.onUnregisterAgent!(agent)
    await until('it is written', async () => (await readMemory(node)).includes('"failure"'))
    await using other = await node.openAnother()
    const { names, notices } = await offer(other, agent)
    assert.deepEqual(names, [])
    assert.match(notices.join(), /"misbehaving": it exited .*, 0 s ago; its tools are left out/)
    await untilState(other, 'connected')
    const again = await offer(other, agent)
    assert.ok(again.names.includes('mcp__misbehaving__echo'))
    assert.deepEqual(again.notices, [])
  })

  test('a turn has the tools of a server that is just coming back', async () => {
    await using node = await mcpNode()
    const server = node.watch({ at: { start: 'crash' }, first: 2 })
    const agent = agentWith([{ ...server.entry, start: 'lazy' }])
    assert.equal((await offer(node, agent)).notices.length, 1)
    assert.match((await offer(node, agent)).notices.join(), /its tools are left out/)
    node.advancedMs = 5_000
    const back = async () => (await offer(node, agent)).names.includes('mcp__misbehaving__echo')
    await until('a turn has its tools', back)
    assert.equal(server.starts().length, 3)
  })

  test('a process that serves one command starts a remembered server when it is called', async () => {
    await using node = await mcpNode()
    const [known, unknown] = [node.watch({ tools: ['few'] }), node.watch({ tools: ['few'] })]
    const remembered = await storeOldList(node, known.entry)
    const agent = agentWith([known.entry, { ...unknown.entry, name: 'new' }])
    await using command = await node.openAnother({ startsKnown: false })
    await command.servers.hook.onRegisterAgent!(agent)
    const { names } = await offer(command, agent)
    assert.deepEqual(names, [...remembered, 'mcp__new__add', 'mcp__new__echo'])
    assert.deepEqual(known.starts(), [])
    await assert.rejects(run(command, agent, { name: 'mcp__misbehaving__old' })!, {
      kind: 'missing',
      message: /it no longer has this tool/,
    })
    const later = await offer(command, agent)
    assert.ok(later.names.includes('mcp__misbehaving__echo') && !later.names.includes(remembered[0]!))
    assert.equal(known.starts().length, 1)
  })

  test('a server that failed more than five minutes ago is waited for again', async () => {
    await using node = await mcpNode()
    const server = node.watch({ at: { 'tools/list': 'error' }, first: 1 })
    const agent = agentWith([{ ...server.entry, start: 'lazy' }])
    assert.equal((await offer(node, agent)).notices.length, 1)
    node.advancedMs = 300_001
    assert.ok((await offer(node, agent)).names.includes('mcp__misbehaving__echo'))
  })

  test('a server whose failure lies in the future after a clock change is waited for', async () => {
    await using node = await mcpNode()
    const server = node.watch({ at: { 'tools/list': 'error' }, first: 1 })
    const agent = agentWith([{ ...server.entry, start: 'lazy' }])
    assert.equal((await offer(node, agent)).notices.length, 1)
    await node.servers.hook.onUnregisterAgent!(agent)
    await until('it is written', async () => (await readMemory(node)).includes('"failure"'))
    await using other = await node.openAnother()
    other.advancedMs = -60_000
    assert.ok((await offer(other, agent)).names.includes('mcp__misbehaving__echo'))
  })

  test('a cancelled turn stops waiting, and the server continues to start', async () => {
    await using node = await mcpNode()
    const agent = agentWith([watchEntry(node, { delay: { start: 500 } })])
    const stop = new AbortController()
    const waiting = offer(node, agent, stop.signal)
    await untilState(node, 'connecting')
    stop.abort()
    await assert.rejects(waiting, { name: 'CrabError', kind: 'cancelled' })
    await untilState(node, 'connected')
  })

  test('a required server is waited for even if its tools are known', async () => {
    await using node = await mcpNode()
    const entry = watchEntry(node, { tools: ['few'], delay: { start: 300 } }, { required: true })
    await storeOldList(node, entry)
    const { names } = await offer(node, agentWith([entry]))
    assert.deepEqual(names, ['mcp__misbehaving__add', 'mcp__misbehaving__echo'])
  })

  test('a failed required server fails each turn', async () => {
    await using node = await mcpNode()
    const server = node.watch({ ...BEHAVIOURS.crashOnStart, first: 3 })
    const agent = agentWith([{ ...server.entry, required: true }])
    const failure = {
      kind: 'unavailable',
      message: /^Cannot use the MCP server "misbehaving": it exited .*; it is required$/,
      hint: `crabtalk mcp ping misbehaving -a ${agent.name} tries it again`,
    }
    await assert.rejects(offer(node, agent), failure)
    await assert.rejects(offer(node, agent), failure)
    assert.ok((await offer(node, agent)).names.includes('mcp__misbehaving__echo'))
  })

  test('a slow server does not delay turns of other agents', async () => {
    await using node = await mcpNode()
    const slow = agentWith([watchEntry(node, HANGING)])
    const stop = new AbortController()
    const waiting = offer(node, slow, stop.signal)
    await untilState(node, 'connecting')
    const quick = await offer(node, agentWith([watchEntry(node, { tools: ['few'] })]))
    assert.equal(quick.names.length, 2)
    stop.abort()
    await assert.rejects(waiting)
  })

  test('a server that a turn waits for starts before the others', async () => {
    await using node = await mcpNode()
    const hanging = Array.from({ length: 24 }, (_, i) => {
      return watchEntry(node, HANGING, { name: `h${i}`, startup_timeout_ms: i < 8 ? 2_000 : 60_000 })
    })
    await node.servers.hook.onRegisterAgent!(agentWith(hanging))
    const needed = agentWith([watchEntry(node, { tools: ['few'] }, { startup_timeout_ms: 30_000 })])
    assert.equal((await offer(node, needed)).names.length, 2)
  })

  test('a turn waits only as long as a start may take, and the server continues to start', async () => {
    await using node = await mcpNode()
    const hanging = Array.from({ length: 8 }, () => node.watch(HANGING))
    await node.servers.hook.onRegisterAgent!(
      agentWith(hanging.map(({ entry }, i) => ({ ...entry, name: `h${i}`, startup_timeout_ms: 60_000 }))),
    )
    const server = node.watch({ tools: ['few'] })
    const { names, notices } = await offer(node, agentWith([{ ...server.entry, startup_timeout_ms: 1_000 }]))
    assert.deepEqual([names, server.starts()], [[], []])
    assert.match(
      notices.join(),
      /"misbehaving": it had to wait for other servers and was not ready within 1 s; its tools are left out/,
    )
    await until('one hangs', () => hanging[0]!.messages('initialize').length === 1)
    process.kill(hanging[0]!.starts()[0]!, 'SIGKILL')
    const { fingerprint } = node.servers.view(agentWith([server.entry])).servers[0]!
    await until('it was started', () => {
      const peer = node.servers.peers().find((one) => one.fingerprint === fingerprint)!
      return peer.connectedAt !== undefined || peer.failures > 0
    })
  })

  test('the hint about a server names the agent, unless it is the default one', async () => {
    await using node = await mcpNode()
    for (const [name, advice] of [
      ['crab', 'crabtalk mcp ping web tries it again'],
      ['slow', 'crabtalk mcp ping web -a slow tries it again'],
    ] as const) {
      const agent = agentWith([{ name: 'web', command: '/nonexistent/web' }], { name })
      assert.ok((await offer(node, agent)).notices.join().endsWith(`(${advice})`))
    }
  })

  test('a turn is told that a server may be installed first', async () => {
    await using node = await mcpNode()
    const entry = watchEntry(node, { tools: ['few'] })
    const npx = join(node.folder, 'npx')
    await symlink(entry.command!, npx)
    const agent = agentWith([{ ...entry, command: npx }])
    const { notices, reported } = await offer(node, agent)
    assert.match(
      notices.join(),
      /"misbehaving" is starting for the first time and may have to be installed first/,
    )
    assert.deepEqual(
      reported.flatMap((event) => (event.type === 'notice' ? [event.passing] : [])),
      [true],
    )
    assert.deepEqual((await offer(node, agent)).notices, [])
  })
})

function watchEntry(node: McpNode, options: ServerOptions, changes: Partial<McpEntry> = {}): McpEntry {
  return { ...node.watch(options).entry, ...changes }
}

function states(reported: Offered['reported']): McpServerEvent[] {
  return reported.flatMap((event) => (event.type === 'mcp-state' ? event.server : []))
}

function spec(server: string, alias: string, description: string, fields: Record<string, string>) {
  const properties = Object.fromEntries(Object.entries(fields).map(([key, type]) => [key, { type }]))
  const parameters = { type: 'object', properties, required: Object.keys(fields) }
  return { name: `mcp__${server}__${alias}`, alias, server, description, parameters }
}

/** Returns what is stored about the servers of a node. */
async function readMemory(node: McpNode): Promise<string> {
  const folder = join(node.folder, 'cache', 'mcp')
  const files = (await readdir(folder).catch(() => [])).filter(isWhole)
  return (await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))).join('\n')
}

function isWhole(file: string): boolean {
  return file.endsWith('.json')
}
