import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import {
  end,
  goodAnswer,
  type Play,
  type ScriptedServer,
  scriptedServer,
  sendEvent,
  sendJson,
  startStream,
} from '../../support/mcp/http/scripted-server.ts'
import { until } from '../../support/until.ts'
import { agentWith, type McpNode, mcpNode, NEVER } from '../mcp-node.ts'

const CALLS = 20

describe('a server over HTTP with unusual answers', () => {
  test('gets a DELETE for its session when it is released, and an unanswered one does not block the end', async () => {
    await using server = await scriptedServer({ play: ({ verb }) => verb === 'DELETE' })
    {
      await using node = await mcpNode()
      await callEcho(node, server)
    }
    const [goodbye] = server.of('DELETE')
    const { 'mcp-session-id': session, 'mcp-protocol-version': version } = goodbye!.headers
    assert.deepEqual(
      [session, version],
      [server.of('tools/call')[0]!.headers['mcp-session-id'], '2025-11-25'],
    )
  })

  test(`that forgets its session is initialized once for ${CALLS} calls, which are sent and read again`, async () => {
    await using server = await scriptedServer()
    await using node = await mcpNode()
    await callEcho(node, server)
    server.forget()
    const answers = await Promise.all(Array.from({ length: CALLS }, () => callEcho(node, server)))
    assert.deepEqual([...new Set(answers)], ['hi'])
    assert.equal(server.of('initialize').length, 2)
    const sessions = server.of('tools/call').map(({ headers }) => headers['mcp-session-id'])
    assert.equal(new Set(sessions).size, 2)
    assert.equal(sessions.length, 1 + 2 * CALLS)
    assert.deepEqual([node.servers.peers()[0]!.state, node.servers.peers()[0]!.starts], ['connected', 1])
    assert.match(logs(node, server).join(), /session was lost and reopened/)
    await until('its list is read again', () => server.of('tools/list').length === 2)
  })

  test('that answers 400 for a forgotten session is initialized again, too', async () => {
    await using server = await scriptedServer({
      play({ id, method, before }, response) {
        if (method !== 'tools/call' || before !== 1) return false
        const error = { code: -32000, message: 'Bad Request: No valid session ID provided' }
        sendJson(response, { jsonrpc: '2.0', id: id ?? null, error }, 400)
        return true
      },
    })
    await using node = await mcpNode()
    await callEcho(node, server)
    assert.equal(await callEcho(node, server), 'hi')
    assert.equal(server.of('initialize').length, 2)
  })

  test('that forgets every session immediately is given up, with a reason', async () => {
    await using server = await scriptedServer({
      play({ method }, response) {
        if (method !== 'tools/call') return false
        end(response, 404)
        return true
      },
    })
    await using node = await mcpNode()
    await assert.rejects(callEcho(node, server), {
      kind: 'unavailable',
      message: /it loses its sessions immediately/,
    })
    assert.deepEqual([server.of('initialize').length, server.of('tools/call').length], [2, 2])
    assert.equal(node.servers.peers()[0]!.state, 'failed')
  })

  for (const [what, play, message] of [
    [
      'a page',
      html(200),
      /does not speak MCP at http:\/\/127\.0\.0\.1:\d+\/mcp: it answered with text\/html/,
    ],
    [
      'HTTP 502 with a page',
      html(502),
      /it answered HTTP 502 \(Bad Gateway\) at http:\/\/127\.0\.0\.1:\d+\/mcp: a web page/,
    ],
    [
      'HTTP 500 with words',
      json(500, { error: { message: 'the disk is full' } }),
      /HTTP 500 .*: the disk is full/,
    ],
    ['HTTP 403', json(403, { error: 'insufficient_scope' }), /HTTP 403 \(Forbidden\).*insufficient_scope/],
    ['invalid JSON', text(200, '{"jsonrpc": "2.0", '), /is not complete JSON/],
    ['JSON that is not a message', json(200, { hello: 'world' }), /is not an MCP message/],
    ['HTTP 202, as for a notification', json(202, ''), /it accepted the request but did not answer/],
    [
      'the answer to something else',
      json(200, { jsonrpc: '2.0', id: 'other', result: {} }),
      /did not answer/,
    ],
    ['a redirect', redirect('/elsewhere'), /it redirects \(HTTP 302\)/],
    ['a redirect to another server', redirect('https://elsewhere.example/mcp', 307), /elsewhere\.example/],
  ] as const) {
    test(`that answers a call with ${what} fails the call, and stays connected`, async () => {
      await using server = await scriptedServer({ play: only('tools/call', play) })
      await using node = await mcpNode()
      await assert.rejects(callEcho(node, server, { auth: 'secret-token' }), (reason: Error) => {
        assert.match(reason.message, message)
        assert.doesNotMatch(reason.message, /secret-token/)
        return true
      })
      assert.equal(node.servers.peers()[0]!.state, 'connected')
      assert.equal(server.of('tools/call').length, 1)
    })

    test(`that answers everything with ${what} fails to connect`, async () => {
      await using server = await scriptedServer({ play })
      await using node = await mcpNode()
      await assert.rejects(callEcho(node, server), (reason: Error) => {
        assert.doesNotMatch(reason.message, /redirectPolicy|\n/)
        return true
      })
      const [peer] = node.servers.peers()
      assert.equal(peer!.state, 'failed')
      assert.notEqual(peer!.error, '')
    })
  }

  test('that cannot be reached is reported with what to check', async () => {
    await using node = await mcpNode()
    const readHint = async (server: ScriptedServer) => {
      const failure: { hint?: string } = await callEcho(node, server).catch((reason) => reason)
      return failure.hint
    }
    await using notFound = await scriptedServer({ play: json(404, 'nothing here') })
    assert.equal(await readHint(notFound), 'check the path of its address')
    await using moved = await scriptedServer({ play: redirect('https://elsewhere.example/mcp', 307) })
    assert.match((await readHint(moved))!, /use the address it redirects to in its entry/)
    const stopped = await scriptedServer()
    await stopped.stop()
    assert.match((await readHint(stopped))!, /check that it is running/)
  })

  test('is followed through a redirect on the same origin that keeps the request', async () => {
    await using server = await scriptedServer({
      play({ path }, response) {
        if (path !== '/mcp') return false
        end(response, 307, { location: '/new' })
        return true
      },
    })
    await using node = await mcpNode()
    assert.equal(await callEcho(node, server, { auth: 'token' }), 'hi')
    const moved = server.arrivals.filter(({ path }) => path === '/new')
    assert.deepEqual([...new Set(moved.map(({ headers }) => headers.authorization))], ['Bearer token'])
  })

  test('is retried after the delay it asks for, if there is time', async () => {
    await using server = await scriptedServer({
      play({ before, method }, response) {
        if (method !== 'tools/call' || before > 1) return false
        end(response, before === 0 ? 503 : 429, { 'retry-after': '0' })
        return true
      },
    })
    await using node = await mcpNode()
    assert.equal(await callEcho(node, server), 'hi')
    assert.equal(server.of('tools/call').length, 3)
    assert.match(logs(node, server).join(), /asks to wait 0\.25 s \(HTTP 503\)/)
  })

  test('is left alone for the delay it asks for when that exceeds the time of a call', async () => {
    await using server = await scriptedServer({
      play({ method }, response) {
        if (method !== 'tools/call') return false
        end(response, 429, { 'retry-after': '120' })
        return true
      },
    })
    await using node = await mcpNode()
    const entry = { timeout_ms: 5_000 }
    await assert.rejects(callEcho(node, server, entry), {
      kind: 'throttled',
      message: /HTTP 429 \(Too Many Requests\).*asks to wait 120 s/,
    })
    assert.equal(node.servers.peers()[0]!.nextRetryAt, node.now() + 120_000)
    await assert.rejects(callEcho(node, server, entry), { message: /can be retried in 120 s/ })
    node.advancedMs += 121_000
    await assert.rejects(callEcho(node, server, entry), { kind: 'throttled' })
    assert.equal(server.of('tools/call').length, 2)
  })

  test('that asks for a delay while connecting is not retried sooner', async () => {
    await using server = await scriptedServer({
      play(_, response) {
        end(response, 503, { 'retry-after': '100' })
        return true
      },
    })
    await using node = await mcpNode()
    await assert.rejects(callEcho(node, server), { message: /asks to wait 100 s/ })
    assert.equal(node.servers.peers()[0]!.nextRetryAt, node.now() + 100_000)
  })

  test('that ends its stream before the answer fails the call immediately', async () => {
    await using server = await scriptedServer({
      play: only('tools/call', (_, response) => {
        startStream(response)
        sendEvent(response, {
          jsonrpc: '2.0',
          method: 'notifications/message',
          params: { level: 'info', data: 1 },
        })
        response.end()
        return true
      }),
    })
    await using node = await mcpNode()
    await assert.rejects(callEcho(node, server), { message: /its stream ended before the answer arrived/ })
    assert.deepEqual([server.of('tools/call').length, server.of('GET').length], [1, 1])
  })

  test('that cuts its stream is asked for the rest, from the last event', async () => {
    await using server = await scriptedServer({
      play(arrival, response) {
        const { method, verb, headers } = arrival
        if (method === 'tools/call') {
          startStream(response)
          response.write('retry: 10\n')
          sendEvent(response, '', 'first')
          sendEvent(
            response,
            { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } },
            'second',
          )
          setImmediate(() => response.destroy())
          return true
        }
        if (verb !== 'GET' || headers['last-event-id'] !== 'second') return false
        startStream(response)
        const { params } = server.of('tools/call')[0]!
        sendEvent(
          response,
          goodAnswer({ method: 'tools/call', id: server.of('tools/call')[0]!.id, params }),
          'third',
        )
        response.end()
        return true
      },
    })
    await using node = await mcpNode()
    assert.equal(await callEcho(node, server), 'hi')
    assert.equal(server.of('tools/call').length, 1)
  })

  for (const [how, begin] of [
    [
      'an answer',
      (response: Parameters<Play>[1]) => response.writeHead(200, { 'content-type': 'application/json' }),
    ],
    ['an event', (response: Parameters<Play>[1]) => startStream(response)],
  ] as const) {
    test(`that sends ${how} without end is rejected, with a reason`, async () => {
      await using server = await scriptedServer({
        play: only('tools/call', async (_, response) => {
          begin(response)
          const piece = Buffer.alloc(2 ** 20, 0x61)
          response.write('data: "')
          for (let i = 0; i < 80 && response.writable; i++) {
            if (!response.write(piece)) await new Promise((resolve) => setImmediate(resolve))
          }
          return true
        }),
      })
      await using node = await mcpNode()
      await assert.rejects(callEcho(node, server), { message: /it sent a message of more than 64 MiB/ })
      assert.equal(server.of('tools/call').length, 1)
      assert.equal(node.servers.peers()[0]!.state, 'connected')
    })
  }

  test('that cuts the connection fails the call once without a retry, and is reconnected', async () => {
    let isCutting = true
    await using server = await scriptedServer({
      play: only('tools/call', (_, response) => {
        if (isCutting) response.destroy()
        return isCutting
      }),
    })
    await using node = await mcpNode()
    await assert.rejects(callEcho(node, server), { kind: 'unavailable', message: /connection was closed/ })
    assert.deepEqual([node.servers.peers()[0]!.state, server.of('tools/call').length], ['failed', 1])
    isCutting = false
    assert.equal(await callEcho(node, server), 'hi')
    assert.equal(server.of('initialize').length, 2)
  })

  test('that answers the version probe with HTTP 500 is treated as an older one', async () => {
    await using server = await scriptedServer({ play: only('server/discover', json(500, {})) })
    await using node = await mcpNode()
    assert.equal(await callEcho(node, server), 'hi')
  })

  test('that does not answer the version probe is treated as an older one', async () => {
    await using server = await scriptedServer({ play: ({ method }) => method === 'server/discover' })
    await using node = await mcpNode()
    assert.equal(await callEcho(node, server, { startup_timeout_ms: 2_000 }), 'hi')
    assert.equal(server.of('initialize').length, 1)
  })

  test('of the newest revision that refuses a call with HTTP 400 or 404 has its error reported', async () => {
    for (const status of [400, 404]) {
      await using server = await scriptedServer({
        modern: true,
        play: only('tools/call', ({ id }, response) => {
          sendJson(
            response,
            { jsonrpc: '2.0', id, error: { code: -32602, message: 'not like this' } },
            status,
          )
          return true
        }),
      })
      await using node = await mcpNode()
      await assert.rejects(
        async () => {
          throw new Error(await callEcho(node, server))
        },
        { message: /refused the call: not like this/ },
      )
      assert.equal(node.servers.peers()[0]!.protocolVersion, '2026-07-28')
    }
  })

  test('that never answers does not keep a process from exiting', async () => {
    await using server = await scriptedServer({ play: ({ verb }) => verb === 'DELETE' })
    await using node = await mcpNode()
    await callEcho(node, server)
    node.servers.release()
    await until('it was told', () => server.of('DELETE').length === 1)
  })
})

function agentFor({ url }: ScriptedServer, changes: Partial<McpEntry> = {}) {
  return {
    ...agentWith([]),
    id: '01J00000000000000000FAR000',
    name: 'far',
    mcps: [{ name: 'far', url, ...changes }],
  }
}

function logs(node: McpNode, server: ScriptedServer): string[] {
  return node.servers.logs(agentFor(server), 'far')
}

/** Returns the server's answer to `hi`, called as a turn does. */
async function callEcho(
  node: McpNode,
  server: ScriptedServer,
  changes: Partial<McpEntry> = {},
): Promise<string> {
  const at = { agent: agentFor(server, changes), name: 'far', tool: 'echo', args: { text: 'hi' } }
  const { output } = await node.servers.call({ ...at, spillDir: node.folder }, NEVER)
  return output
}

function only(method: string, play: Play): Play {
  return (arrival, response) => (arrival.method === method ? play(arrival, response) : false)
}

function text(status: number, body: string, type = 'application/json'): Play {
  return (_, response) => {
    response.writeHead(status, { 'content-type': type }).end(body)
    return true
  }
}

function html(status: number): Play {
  return text(status, '<!DOCTYPE html><html><body>Bad Gateway</body></html>', 'text/html; charset=utf-8')
}

function json(status: number, value: unknown): Play {
  return text(status, JSON.stringify(value))
}

function redirect(location: string, status = 302): Play {
  return (_, response) => {
    end(response, status, { location })
    return true
  }
}
