import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { BEHAVIOURS } from '../../support/mcp/mcp-servers.ts'
import { livingWith } from '../../support/orphans.ts'
import { until } from '../../support/until.ts'
import {
  agentWith,
  kinds,
  mcpNode,
  NEVER,
  offer,
  run,
  storeOldList,
  untilState,
  waitUntilGone,
} from '../mcp-node.ts'

describe('starts and ends of servers', { concurrency: 4 }, () => {
  test('a lazy server is started by the first call when its tools are known', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([{ ...server.entry, start: 'lazy' }])
    await (await node.servers.verify(agent, agent.mcps[0]!, NEVER))[Symbol.asyncDispose]()
    await node.servers.hook.onRegisterAgent!(agent)
    const { names } = await offer(node, agent)
    assert.ok(names.includes('mcp__misbehaving__echo'))
    assert.deepEqual([node.servers.peers()[0]!.state, server.starts().length], ['idle', 1])
    await run(node, agent, { name: 'mcp__misbehaving__echo', args: { text: 'x' } })
    assert.deepEqual([node.servers.peers()[0]!.state, server.starts().length], ['connected', 2])
  })

  test('a server that is unused for its idle time is ended, and restarts with a call', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([{ ...server.entry, idle_timeout_ms: 300 }])
    await offer(node, agent)
    const slow = run(node, agent, { name: 'mcp__misbehaving__sleep', args: { ms: 900 } })
    assert.equal((await slow)?.output, 'slept 900 ms')
    await untilState(node, 'idle')
    assert.deepEqual(kinds(node, agent.name), ['connecting', 'connected', 'disconnected'])
    await waitUntilGone(server)
    assert.ok((await offer(node, agent)).names.includes('mcp__misbehaving__echo'))
    await run(node, agent, { name: 'mcp__misbehaving__echo', args: { text: 'x' } })
    assert.equal(server.starts().length, 2)
  })

  test('the exit of a process is noticed even if others hold its pipes, and all owners are told', async () => {
    await using node = await mcpNode()
    const server = node.watch(BEHAVIOURS.grandchild)
    const [one, two] = [agentWith([server.entry]), agentWith([server.entry])]
    for (const agent of [one, two]) await offer(node, agent)
    process.kill(server.starts()[0]!, 'SIGKILL')
    await untilState(node, 'failed')
    for (const agent of [one, two]) {
      const { kind, error } = node.events.filter((event) => event.agent === agent.name).at(-1)!
      assert.deepEqual([kind, error], ['failed', 'it was killed by SIGKILL'])
      assert.ok((await offer(node, agent)).names.includes('mcp__misbehaving__echo'))
    }
    await waitUntilGone(server) // its leftover processes ended with it
  })

  test('a missing server is started once for any number of callers', async () => {
    await using node = await mcpNode()
    const server = node.watch()
    const agent = agentWith([{ ...server.entry, start: 'lazy' }])
    await offer(node, agent)
    process.kill(server.starts()[0]!, 'SIGKILL')
    await untilState(node, 'failed')
    const calls = Array.from({ length: 8 }, (_, i) =>
      run(node, agent, { name: 'mcp__misbehaving__echo', args: { text: String(i) } }),
    )
    assert.deepEqual(
      (await Promise.all(calls)).map((answer) => answer?.output),
      ['0', '1', '2', '3', '4', '5', '6', '7'],
    )
    assert.equal(server.starts().length, 2)
  })

  test('restarts after failed starts are delayed, 5 s at first and twice as long each time', async () => {
    await using node = await mcpNode()
    const server = node.watch({ at: { start: 'crash' } })
    const agent = agentWith([{ ...server.entry, start: 'lazy' }])
    await offer(node, agent)
    const begun = server.starts().length
    for (const [failures, seconds] of [5, 10, 20, 40, 80, 160, 300, 300].entries()) {
      const [peer] = node.servers.peers()
      assert.equal(peer!.failures, failures + 1)
      assert.equal(Math.ceil((peer!.nextRetryAt! - node.now()) / 5_000) * 5, seconds)
      await offer(node, agent)
      assert.equal(server.starts().length, begun + failures)
      node.advancedMs += seconds * 1_000
      await offer(node, agent)
      await until('it failed again', () => node.servers.peers()[0]!.failures === failures + 2)
    }
  })

  test('a failed server is started again by itself when its delay is over, and so is one that ended', async () => {
    await using node = await mcpNode()
    const server = node.watch({ at: { start: 'crash' }, first: 3 })
    const agent = agentWith([server.entry])
    await node.servers.hook.onRegisterAgent!(agent)
    for (const [failures, seconds] of [5, 10].entries()) {
      await until('it failed', () => node.servers.peers()[0]!.failures === failures + 1)
      assert.equal(Math.ceil((node.servers.peers()[0]!.nextRetryAt! - node.now()) / 1_000), seconds)
      node.advancedMs += seconds * 1_000
    }
    await untilState(node, 'connected')
    const begun = server.starts().length
    process.kill(server.starts().at(-1)!, 'SIGKILL')
    await untilState(node, 'failed')
    node.advancedMs += 5_000
    await untilState(node, 'connected')
    assert.equal(server.starts().length, begun + 1)
  })

  test('refused credentials, lazy servers and servers without owners are not tried again by themselves', async () => {
    await using node = await mcpNode()
    const [lazy, gone] = [node.watch({ at: { start: 'crash' } }), node.watch({ at: { start: 'crash' } })]
    const agent = agentWith([{ ...lazy.entry, start: 'lazy' }])
    const other = agentWith([gone.entry])
    await offer(node, agent)
    await offer(node, other)
    await node.servers.hook.onUnregisterAgent!(other)
    const before = [lazy.starts().length, gone.starts().length]
    node.advancedMs += 300_000
    const [next] = [node.watch({ at: { start: 'crash' } })]
    await offer(node, agentWith([next.entry]))
    assert.deepEqual([lazy.starts().length, gone.starts().length], before)
  })

  test('a call does not start a server that failed too recently, and says when it may', async () => {
    await using node = await mcpNode()
    const server = node.watch({ at: { start: 'crash' } })
    const agent = agentWith([{ ...server.entry, start: 'lazy' }])
    await storeOldList(node, server.entry)
    await offer(node, agent)
    const call = () => run(node, agent, { name: 'mcp__misbehaving__old' })!
    await assert.rejects(call, { kind: 'unavailable', message: /: it exited with code 1: [^;]*$/ })
    const begun = server.starts().length
    await assert.rejects(call, { kind: 'unavailable', message: /; it can be retried in 5 s$/ })
    assert.equal(server.starts().length, begun)
    node.advancedMs = 5_000
    await assert.rejects(call)
    assert.equal(server.starts().length, begun + 1)
  })

  test('a server that exits at each call is restarted immediately the first time, then with a delay', async () => {
    await using node = await mcpNode()
    const server = node.watch({ ...BEHAVIOURS.exitOnCall, first: 3 })
    const agent = agentWith([{ ...server.entry, start: 'lazy' }])
    await offer(node, agent)
    const call = () => run(node, agent, { name: 'mcp__misbehaving__echo', args: { text: 'x' } })!
    for (const seconds of [0, 5, 10]) {
      await assert.rejects(call, { kind: 'unavailable' })
      await untilState(node, 'failed')
      const { nextRetryAt } = node.servers.peers()[0]!
      assert.equal(Math.ceil(((nextRetryAt ?? 0) - node.now()) / 5_000) * 5 > 0, seconds > 0)
      if (seconds > 0)
        await assert.rejects(call, { message: new RegExp(`; it can be retried in ${seconds} s$`) })
      node.advancedMs += seconds * 1_000
    }
    assert.equal((await call())?.output, 'x')
    assert.equal(server.starts().length, 4)
    process.kill(server.starts().at(-1)!, 'SIGKILL')
    await untilState(node, 'failed')
    assert.equal((await call())?.output, 'x')
  })

  test('an exited server is restarted once all its child processes are gone', async () => {
    await using node = await mcpNode()
    const server = node.watch(BEHAVIOURS.stubbornGrandchild)
    const agent = agentWith([server.entry])
    await offer(node, agent)
    const before = (await livingWith(server.mark)).map(({ pid }) => pid)
    process.kill(server.starts()[0]!, 'SIGKILL')
    await untilState(node, 'failed')
    await run(node, agent, { name: 'mcp__misbehaving__echo', args: { text: 'x' } })
    const now = (await livingWith(server.mark)).map(({ pid }) => pid)
    assert.ok(before.length > 1 && now.length > 1)
    assert.deepEqual(
      now.filter((pid) => before.includes(pid)),
      [],
    )
  })

  test('reconnecting does not wait, and resets the delay', async () => {
    await using node = await mcpNode()
    const server = node.watch({ at: { start: 'crash' }, first: 3 })
    const agent = agentWith([server.entry])
    await assert.rejects(node.servers.connect(agent, 'misbehaving', NEVER))
    await assert.rejects(node.servers.reconnect(agent, 'misbehaving', NEVER))
    assert.equal(Math.ceil((node.servers.peers()[0]!.nextRetryAt! - node.now()) / 5_000), 1)
    assert.equal((await node.servers.reconnect(agent, 'misbehaving', NEVER)).state, 'connected')
    assert.equal(node.servers.peers()[0]!.failures, 0)
    const before = server.starts().at(-1)
    assert.notEqual((await node.servers.reconnect(agent, 'misbehaving', NEVER)).pid, before)
  })

  test('reconnecting ends a hanging start, and its waiters get the new one', async () => {
    await using node = await mcpNode()
    const server = node.watch({ at: { initialize: 'hang' }, first: 1 })
    const agent = agentWith([{ ...server.entry, startup_timeout_ms: 600_000 }])
    const waiting = node.servers.connect(agent, 'misbehaving', NEVER)
    await until('it runs', () => server.starts().length === 1)
    assert.equal((await node.servers.reconnect(agent, 'misbehaving', NEVER)).state, 'connected')
    assert.equal((await waiting).state, 'connected')
    assert.equal(server.starts().length, 2)
    assert.deepEqual(kinds(node, agent.name), ['connecting', 'connected'])
    assert.equal(node.servers.peers()[0]!.failures, 0)
  })

  test('reconnecting ends with its signal, also while the server starts or ends', async () => {
    await using node = await mcpNode()
    const server = node.watch({ at: { initialize: 'hang' } })
    const agent = agentWith([server.entry])
    await node.servers.hook.onRegisterAgent!(agent)
    const stop = new AbortController()
    const waiting = node.servers.reconnect(agent, 'misbehaving', stop.signal)
    stop.abort()
    await assert.rejects(waiting, { kind: 'cancelled' })
    const [peer] = node.servers.peers()
    assert.deepEqual([peer!.state, peer!.failures], ['connecting', 0])
  })

  test('at most eight servers start at the same time', async () => {
    await using node = await mcpNode()
    const counter = join(node.folder, 'starting')
    await writeFile(counter, '')
    const script = `echo $$ >> '${counter}'; exec sleep 60`
    const entries = Array.from({ length: 12 }, (_, i) => {
      return {
        name: `s${i}`,
        command: '/bin/sh',
        args: ['-c', script],
        startup_timeout_ms: 60_000,
        env: { N: `${i}` },
      }
    })
    await node.servers.hook.onRegisterAgent!(agentWith(entries))
    await until('eight have started', async () => (await pidsIn(counter)).length === 8)
    process.kill((await pidsIn(counter))[0]!)
    await until('it is tried once more', async () => (await pidsIn(counter)).length === 9)
    process.kill((await pidsIn(counter))[8]!)
    await until('one more has started', async () => (await pidsIn(counter)).length === 10)
    assert.equal(node.servers.peers().filter(({ state }) => state === 'failed').length, 1)
  })

  test('at most three servers that may have to be installed start at the same time, until they have connected once', async () => {
    await using node = await mcpNode()
    const counter = join(node.folder, 'starting')
    const npx = join(node.folder, 'npx')
    await writeFile(counter, '')
    await writeFile(npx, `#!/bin/sh\necho $$ >> '${counter}'\nexec sleep 60\n`, { mode: 0o755 })
    const entries = Array.from({ length: 5 }, (_, i) => ({ name: `s${i}`, command: npx, args: [`${i}`] }))
    await node.servers.hook.onRegisterAgent!(agentWith(entries))
    await until('three have started', async () => (await pidsIn(counter)).length === 3)
    process.kill((await pidsIn(counter))[0]!)
    await until('it is tried once more', async () => (await pidsIn(counter)).length === 4)
    process.kill((await pidsIn(counter))[3]!)
    await until('one more has started', async () => (await pidsIn(counter)).length === 5)
    assert.equal(node.servers.peers().filter(({ state }) => state === 'failed').length, 1)
  })

  for (const stream of ['output', 'error'])
    test(`logs() returns what a server writes to standard ${stream}, also after its end, without its secrets`, async () => {
      await using node = await mcpNode()
      const entry = {
        ...{
          name: 's',
          command: '/bin/sh',
          args: ['-c', `echo "bad key $API_KEY" ${stream === 'error' ? '>&2' : ''}; exit 3`],
        },
        env: { API_KEY: 'sk-very-secret' },
      }
      const agent = agentWith([entry])
      assert.deepEqual(node.servers.logs(agent, 's'), [])
      await assert.rejects(node.servers.connect(agent, 's', NEVER), {
        message: 'Cannot use the MCP server "s": it exited with code 3: bad key [secret]',
      })
      await using other = await node.openAnother()
      const written = /bad key \[secret\]\n\[crabtalk: it exited with code 3\]/ // then it may be started again
      await until('another process has the log', () =>
        written.test(other.servers.logs(agent, 's').join('\n')),
      )
      assert.match(node.servers.logs(agent, 's').join('\n'), written)
    })

  test('logs() notes a restart, without counting the earlier output as the reason', async () => {
    await using node = await mcpNode()
    const { entry, starts } = node.watch()
    const { command = '', args = [] } = entry
    const script = 'echo "cannot find it" >&2; exec "$0" "$@"'
    const talking = { ...entry, command: '/bin/sh', args: ['-c', script, command, ...args] }
    const agent = agentWith([talking])
    const { name } = talking
    await node.servers.connect(agent, name, NEVER)
    process.kill(starts()[0]!, 'SIGKILL')
    await untilState(node, 'failed')
    assert.equal(node.servers.peers()[0]!.error, 'it was killed by SIGKILL')
    await node.servers.connect(agent, name, NEVER)
    assert.deepEqual(node.servers.logs(agent, name), [
      'cannot find it',
      '[crabtalk: it was killed by SIGKILL]',
      '[crabtalk: started again]',
      'cannot find it',
    ])
  })
})

/** Returns the processes that wrote their ids into a file. */
async function pidsIn(file: string): Promise<number[]> {
  return (await readFile(file, 'utf8')).split('\n').filter(Boolean).map(Number)
}
