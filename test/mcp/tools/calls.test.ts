import assert from 'node:assert/strict'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import { numberedLines } from '../../support/mcp/good-tools.ts'
import { BEHAVIOURS } from '../../support/mcp/mcp-servers.ts'
import type { ServerOptions } from '../../support/mcp/options.ts'
import { until } from '../../support/until.ts'
import { agentWith, type McpNode, mcpNode, NEVER, offer, run, untilState } from '../mcp-node.ts'

describe('calls of tools', { concurrency: 4 }, () => {
  test('describe() says which tool of which server a call is for', async () => {
    await using node = await mcpNode()
    const { agent } = await offerServer(node)
    const request = { args: { text: 'x' }, agent, cwd: '/' }
    const { hook } = node.servers
    assert.deepEqual(await hook.describe!('mcp__misbehaving__echo', request), {
      ...{ kind: 'mcp', name: 'mcp__misbehaving__echo' },
      ...{ server: 'misbehaving', tool: 'echo' },
    })
    assert.equal(hook.describe!('mcp__misbehaving__nothing', request), undefined)
    assert.equal(hook.describe!('echo', request), undefined)
    assert.equal(hook.describe!('mcp__misbehaving__echo', { ...request, agent: agentWith([]) }), undefined)
  })

  test('a call without a required argument is refused by name, before the server is asked', async () => {
    await using node = await mcpNode()
    const { agent, server } = await offerServer(node)
    await assert.rejects(run(node, agent, { name: 'mcp__misbehaving__add', args: { a: 1 } })!, {
      kind: 'invalid',
      message: 'Cannot call add: "b" is missing',
    })
    await assert.rejects(run(node, agent, { name: 'mcp__misbehaving__add' })!, {
      message: 'Cannot call add: "a", "b" are missing',
    })
    assert.deepEqual(server.messages('tools/call'), [])
  })

  test('arguments are always an object', async () => {
    await using node = await mcpNode()
    const { agent, server } = await offerServer(node)
    await run(node, agent, { name: 'mcp__misbehaving__cwd' })
    assert.deepEqual(server.messages('tools/call')[0]!.params!['arguments'], {})
  })

  test('a tool that is hidden, or of another agent, is refused before the server is asked', async () => {
    await using node = await mcpNode()
    const { agent, server } = await offerServer(node, {}, { exclude: ['echo'] })
    const echo = {
      ...{ kind: 'mcp', name: 'mcp__misbehaving__echo' },
      ...{ server: 'misbehaving', tool: 'echo' },
    }
    assert.equal(await run(node, agent, { name: 'mcp__misbehaving__echo', args: { text: 'x' } }), undefined)
    const call = { action: echo, args: { text: 'x' }, spillDir: '/', progress() {} } as never
    const { hook } = node.servers
    await assert.rejects(hook.dispatch!('x', { ...(call as object), agent } as never, NEVER)!, {
      kind: 'missing',
    })
    const stranger = agentWith([])
    assert.equal(hook.dispatch!('x', { ...(call as object), agent: stranger } as never, NEVER), undefined)
    await assert.rejects(
      node.servers.call(
        { agent, name: 'misbehaving', tool: 'echo', args: { text: 'x' }, spillDir: '/' },
        NEVER,
      ),
      { kind: 'missing', message: /the agent does not get it: exclude has echo/ },
    )
    assert.deepEqual(server.messages('tools/call'), [])
  })

  test('calls of one server run in parallel', async () => {
    await using node = await mcpNode()
    const { agent, server } = await offerServer(node)
    const stop = new AbortController()
    const slow = ['1', '2', '3'].map(() =>
      run(node, agent, { name: 'mcp__misbehaving__sleep', args: { ms: 60_000 } }, stop.signal),
    )
    const quick = await run(node, agent, { name: 'mcp__misbehaving__echo', args: { text: 'quick' } })
    assert.equal(quick?.output, 'quick')
    assert.equal(server.messages('tools/call').length, 4)
    stop.abort()
    await Promise.allSettled(slow)
  })

  for (const era of ['legacy', 'modern'] as const) {
    test(`an abort is sent to the ${era} server and ends the call immediately`, async () => {
      await using node = await mcpNode()
      const { agent, server } = await offerServer(node, { ...BEHAVIOURS.hangOnCall, era })
      const stop = new AbortController()
      const call = run(node, agent, { name: 'mcp__misbehaving__pid' }, stop.signal)
      await until('the call is there', () => server.messages('tools/call').length === 1)
      stop.abort()
      await assert.rejects(call!, { kind: 'cancelled' })
      await until('the server knows', () => server.messages('notifications/cancelled').length === 1)
      const [called] = server.messages('tools/call')
      assert.equal(server.messages('notifications/cancelled')[0]!.params!['requestId'], called!.id)
      assert.equal(server.messages('notifications/cancelled')[0]!.params!['reason'], 'Cancelled')
      assert.equal(node.servers.peers()[0]!.state, 'connected')
    })

    test(`a call that takes too long fails with a timeout, and the ${era} server is told`, async () => {
      await using node = await mcpNode()
      const { agent, server } = await offerServer(
        node,
        { ...BEHAVIOURS.hangOnCall, era },
        { timeout_ms: 300 },
      )
      await assert.rejects(run(node, agent, { name: 'mcp__misbehaving__pid' })!, {
        kind: 'timeout',
        message: 'Cannot call pid of the MCP server "misbehaving": it did not answer within 0.3 s',
      })
      await until('the server knows', () => server.messages('notifications/cancelled').length === 1)
      assert.equal(node.servers.peers()[0]!.errors, 1)
    })

    test(`progress of a ${era} server is passed on and gives a call more time`, async () => {
      await using node = await mcpNode()
      const { agent } = await offerServer(node, { era }, { timeout_ms: 4_000 })
      const reports: object[] = []
      const args = { ms: 5_000, steps: 20 }
      const answer = await run(node, agent, {
        ...{ name: 'mcp__misbehaving__sleep', args },
        progress: (report) => reports.push(report),
      })
      assert.equal(answer?.output, 'slept 5000 ms')
      assert.deepEqual(reports[0], { message: '1 of 20', progress: 1, total: 20 })
    })
  }

  test('a failed tool is an answer, not an error of the server', async () => {
    await using node = await mcpNode()
    const { agent } = await offerServer(node)
    const failed = await run(node, agent, { name: 'mcp__misbehaving__fail', args: { text: 'no luck' } })
    assert.deepEqual(failed, { output: 'no luck', isError: true })
    const [peer] = node.servers.peers()
    assert.deepEqual([peer!.state, peer!.calls, peer!.errors], ['connected', 1, 0])
  })

  test('a call that the server refuses is an answer', async () => {
    await using node = await mcpNode()
    const { agent } = await offerServer(node, { at: { 'tools/call': 'error' } })
    const answer = await run(node, agent, { name: 'mcp__misbehaving__pid' })
    assert.deepEqual(answer, {
      output: 'misbehaving refused the call: tools/call failed on purpose',
      isError: true,
    })
  })

  const DEATHS = {
    crashOnCall: /it exited with code 1: Error: cannot open the database/,
    exitOnCall: /it exited with code 0/,
    tornOnCall: /it exited with code 1/,
    closeOnCall: /it closed its standard input or output/,
  } as const
  for (const [name, message] of Object.entries(DEATHS)) {
    test(`a call fails once when the server is "${name}", and is never repeated`, async () => {
      await using node = await mcpNode()
      const behaviour = { ...BEHAVIOURS[name as keyof typeof DEATHS], first: 1 }
      const { agent, server } = await offerServer(node, behaviour)
      const calls = (name === 'closeOnCall' ? ['one'] : ['one', 'two']).map(
        () => run(node, agent, { name: 'mcp__misbehaving__pid' })!,
      )
      await Promise.all(
        calls.map((call) => assert.rejects(call, { kind: 'unavailable', message, hint: /are not repeated/ })),
      )
      const arrived = server.messages('tools/call').length
      assert.equal(node.servers.peers()[0]!.state, 'failed')
      assert.match(node.servers.peers()[0]!.error, message)
      const answer = await run(node, agent, { name: 'mcp__misbehaving__pid' })
      assert.equal(answer?.output, String(server.starts()[1]))
      assert.equal(server.messages('tools/call').length, arrived + 1)
    })
  }

  test('an answer that comes just before the end of its server is not lost', async () => {
    await using node = await mcpNode()
    const { agent } = await offerServer(node)
    const args = { how: 'exit', after_ms: 0 }
    const answer = await run(node, agent, { name: 'mcp__misbehaving__act', args })
    assert.equal(answer?.output, 'will exit')
    await untilState(node, 'failed')
  })

  test('an answer that is too long is cut, and stored in full where the model may read it', async () => {
    await using node = await mcpNode()
    const { agent } = await offerServer(node, {}, { output_limit: 1_000 })
    const answer = await run(node, agent, { name: 'mcp__misbehaving__big', args: { bytes: 50_000 } })
    const [, shown, path] =
      /^([^[]*)\n\[Cut: 50000 bytes in all, the first 1000 are above; the full content is in (.*)\]$/s.exec(
        answer!.output,
      )!
    assert.equal(shown, numberedLines(50_000).slice(0, 1_000))
    assert.equal(await readFile(path!, 'utf8'), numberedLines(50_000))
    assert.equal((await stat(path!)).mode & 0o777, 0o600)
    assert.deepEqual((await readdir(join(node.folder, 'spill'))).length, 1)
  })

  test('an answer of many megabytes arrives', async () => {
    await using node = await mcpNode()
    const { agent } = await offerServer(node)
    const answer = await run(node, agent, { name: 'mcp__misbehaving__big', args: { bytes: 20_000_000 } })
    assert.match(answer!.output, /\[Cut: 20000000 bytes in all, the first 262144 are above/)
  })

  test('a message that is too large ends the connection, and the next call reconnects', async () => {
    await using node = await mcpNode()
    const { agent, server } = await offerServer(node)
    const call = run(node, agent, { name: 'mcp__misbehaving__big', args: { bytes: 70_000_000 } })
    await assert.rejects(call!, { kind: 'unavailable', message: /it sent a message of more than 64 MiB/ })
    const answer = await run(node, agent, { name: 'mcp__misbehaving__pid' })
    assert.equal(answer?.output, String(server.starts()[1]))
  })

  test("call() accepts the server's name of a tool and the model's", async () => {
    await using node = await mcpNode()
    const { agent } = await offerServer(node)
    const call = (tool: string) =>
      node.servers.call({ agent, name: 'misbehaving', tool, args: { text: 'x' }, spillDir: '/' }, NEVER)
    assert.equal((await call('echo')).output, 'x')
    assert.equal((await call('mcp__misbehaving__echo')).output, 'x')
    await assert.rejects(call('nothing'), { kind: 'missing', message: /it does not have that tool/ })
  })

  test('counts and times of calls are kept', async () => {
    await using node = await mcpNode()
    const { agent } = await offerServer(node)
    assert.equal(node.servers.peers()[0]!.latencyMs, undefined)
    for (const text of ['a', 'b']) await run(node, agent, { name: 'mcp__misbehaving__echo', args: { text } })
    const [peer] = node.servers.peers()
    assert.deepEqual([peer!.calls, peer!.errors], [2, 0])
    assert.ok(peer!.latencyMs! >= 0 && peer!.lastOkAt! >= peer!.connectedAt!)
  })
})

async function offerServer(node: McpNode, options: ServerOptions = {}, changes: Partial<McpEntry> = {}) {
  const server = node.watch(options)
  const agent = agentWith([{ ...server.entry, ...changes }])
  return { server, agent, ...(await offer(node, agent)) }
}
