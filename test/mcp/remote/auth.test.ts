import assert from 'node:assert/strict'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import { openRemoteLink } from '../../../src/mcp/remote/remote-link.ts'
import {
  type Play,
  type ScriptedServer,
  scriptedServer,
  sendJson,
} from '../../support/mcp/http/scripted-server.ts'
import { livingWith } from '../../support/orphans.ts'
import { until } from '../../support/until.ts'
import { agentWith, type McpNode, mcpNode, NEVER } from '../mcp-node.ts'

describe('a server over HTTP that requires authentication', () => {
  test('gets the headers and the token of its entry with every request, which are shown nowhere', async () => {
    await using server = await scriptedServer()
    {
      await using node = await mcpNode()
      await callEcho(node, server, { headers: { 'X-Team': 'crabs-secret-team' }, auth: 'top-secret' })
      const [peer] = node.servers.peers()
      assert.deepEqual(peer!.headerNames, ['X-Team'])
      assert.doesNotMatch(JSON.stringify([node.servers.peers(), node.events]), /top-secret|crabs-secret/)
    }
    const sent = server.arrivals.map(({ headers }) => [headers.authorization, headers['x-team']].join())
    assert.deepEqual([...new Set(sent)], ['Bearer top-secret,crabs-secret-team'])
    assert.deepEqual([...new Set(server.arrivals.map(({ verb }) => verb))], ['POST', 'GET', 'DELETE'])
  })

  for (const [what, changes, message, hint] of [
    [
      'nothing',
      {},
      /it requires authentication: it answered HTTP 401 \(Unauthorized\)/,
      /crabtalk mcp login far -a far$/,
    ],
    ['another token', { auth: 'old-token' }, /its token was refused: it answered HTTP 401/, /valid token/],
    [
      'another header',
      { headers: { Authorization: 'Basic old' } },
      /its credentials were refused/,
      /valid credentials/,
    ],
  ] as const) {
    test(`is in the state needs_auth when it gets ${what}, with what to do about it`, async () => {
      await using server = await scriptedServer({ play: onlyFor('Bearer new-token') })
      await using node = await mcpNode()
      await assert.rejects(callEcho(node, server, changes), (reason: Error & { hint: string }) => {
        assert.match(reason.message, message)
        assert.match(reason.hint, hint)
        assert.doesNotMatch(reason.message, /old-token/)
        return true
      })
      assert.equal(node.servers.peers()[0]!.state, 'needs_auth')
      assert.deepEqual(server.of('initialize').length, 0)
      await node.servers[Symbol.asyncDispose]()
      await using advancedMs = await node.openAnother()
      const [listed] = advancedMs.servers.view(agentFor(server, changes)).servers
      const hasCommand = /; log in with crabtalk mcp login far -a far$/.test(listed!.error)
      assert.deepEqual(
        [listed!.state, message.test(listed!.error), hasCommand],
        ['needs_auth', true, what === 'nothing'],
      )
    })
  }

  test('that refused is needs_auth until it is tried again, as its log says', async () => {
    const gate = Promise.withResolvers<void>()
    let isOpen = false
    await using server = await scriptedServer({
      async play(arrival, response) {
        if (!isOpen) return refuse(arrival, response)
        await gate.promise
        return false
      },
    })
    await using node = await mcpNode()
    const agent = agentFor(server)
    await assert.rejects(callEcho(node, server), { kind: 'credentials' })
    assert.match(node.servers.logs(agent, 'far').at(-1)!, /^it answered HTTP 401/)
    assert.equal(node.servers.peers()[0]!.state, 'needs_auth')
    const before = server.arrivals.length
    isOpen = true
    const again = node.servers.reconnect(agent, 'far', NEVER)
    await until('it is asked again', () => server.arrivals.length > before)
    assert.equal(node.servers.peers()[0]!.state, 'connecting')
    assert.equal(node.servers.view(agent).servers[0]!.state, 'connecting')
    gate.resolve()
    assert.equal((await again).state, 'connected')
  })

  test('that refuses a call of a connection is needs_auth from then on', async () => {
    let isClosed = false
    await using server = await scriptedServer({
      play: (arrival, response) => isClosed && refuse(arrival, response),
    })
    await using node = await mcpNode()
    await callEcho(node, server, { auth: 'token-1' })
    isClosed = true
    await assert.rejects(callEcho(node, server, { auth: 'token-1' }), { kind: 'credentials' })
    assert.equal(node.servers.peers()[0]!.state, 'needs_auth')
    assert.deepEqual(node.events.at(-1)?.kind, 'failed')
    isClosed = false
    assert.equal(await callEcho(node, server, { auth: 'token-1' }), 'hi')
  })

  for (const [form, output] of [
    ['a bare token', 'token-of-helper'],
    ['a line of a header', 'Authorization: Bearer token-of-helper'],
    ['JSON with headers', '{"headers":{"Authorization":"Bearer token-of-helper"},"expires_in":3600}'],
    ['JSON with a token', '{"token":"token-of-helper","expires_at":"2999-01-01T00:00:00Z"}'],
    ['headers as JSON', '{"Authorization":"Bearer token-of-helper"}'],
  ] as const) {
    test(`gets what its helper prints as ${form}, and the helper is run once`, async () => {
      await using server = await scriptedServer({ play: onlyFor('Bearer token-of-helper') })
      await using node = await mcpNode()
      const helper = await makeHelper(node, `console.log(${JSON.stringify(output)})`)
      assert.equal(await callEcho(node, server, { auth_helper: helper.argv }), 'hi')
      assert.equal(await helper.runs(), 1)
    })
  }

  test('that refuses has its helper run again, once for all calls, and never more', async () => {
    let accepted = 'Bearer token-1'
    await using server = await scriptedServer({
      play: (arrival, response) => onlyFor(accepted)(arrival, response),
    })
    await using node = await mcpNode()
    const helper = await makeHelper(node, 'console.log("token-" + run)')
    const entry = { auth_helper: helper.argv }
    await callEcho(node, server, entry)
    accepted = 'Bearer token-2'
    const all = await Promise.all(Array.from({ length: 10 }, () => callEcho(node, server, entry)))
    assert.deepEqual([...new Set(all), await helper.runs()], ['hi', 2])
    accepted = 'Bearer nobody'
    await assert.rejects(callEcho(node, server, entry), {
      kind: 'credentials',
      message: /its token was refused/,
    })
    assert.equal(await helper.runs(), 3)
    assert.equal(node.servers.peers()[0]!.state, 'needs_auth')
  })

  test('does not have its helper run again for a refusal that came after the new token', async () => {
    let accepted = 'Bearer token-1'
    const { promise: renewed, resolve } = Promise.withResolvers<void>()
    await using server = await scriptedServer({
      async play(arrival, response) {
        const { headers, method, before } = arrival
        if (headers.authorization === 'Bearer token-2') resolve()
        if (method === 'tools/call' && before === 2) await renewed
        return onlyFor(accepted)(arrival, response)
      },
    })
    await using node = await mcpNode()
    const helper = await makeHelper(node, 'console.log("token-" + run)')
    const entry = { auth_helper: helper.argv }
    await callEcho(node, server, entry)
    accepted = 'Bearer token-2'
    await Promise.all([callEcho(node, server, entry), callEcho(node, server, entry)])
    assert.equal(await helper.runs(), 2)
  })

  test("shows its helper's messages without the token", async () => {
    await using server = await scriptedServer()
    await using node = await mcpNode()
    const helper = await makeHelper(
      node,
      'console.error("gave token-of-helper"); console.log("token-of-helper")',
    )
    const entry = { auth_helper: helper.argv }
    await callEcho(node, server, entry)
    assert.deepEqual(node.servers.logs(agentFor(server, entry), 'far'), ['auth helper: gave [secret]'])
  })

  test('has its helper run again a minute before the token expires', async () => {
    await using server = await scriptedServer()
    await using node = await mcpNode()
    const helper = await makeHelper(
      node,
      'console.log(JSON.stringify({ token: "token-" + run, expires_in: 600 }))',
    )
    const entry = { auth_helper: helper.argv }
    await callEcho(node, server, entry)
    node.advancedMs += 539_000
    await callEcho(node, server, entry)
    assert.equal(await helper.runs(), 1)
    node.advancedMs += 2_000
    await callEcho(node, server, entry)
    assert.equal(await helper.runs(), 2)
    assert.equal(server.of('tools/call').at(-1)!.headers.authorization, 'Bearer token-2')
  })

  test('runs its helper with the URL, an environment without our own keys, and no shell', async () => {
    await using server = await scriptedServer()
    await using node = await mcpNode({ env: { ...process.env, OPENAI_API_KEY: 'sk-of-the-host' } })
    const script =
      'console.log([process.env.OPENAI_API_KEY, process.env.CRABTALK_MCP_URL, process.argv[2]].join("|"))'
    const helper = await makeHelper(node, script)
    await callEcho(node, server, { auth_helper: [...helper.argv, '$HOME;x'] })
    assert.equal(server.of('tools/call')[0]!.headers.authorization, `Bearer |${server.url}|$HOME;x`)
  })

  for (const [what, script, why] of [
    [
      'ends with a failure',
      'console.log("s3cret-word"); console.error("no login"); process.exit(3)',
      'it exited with code 3',
    ],
    ['prints nothing', '', 'it printed nothing'],
    [
      'prints a page',
      'console.log("<html>\\n<s3cret-word>")',
      'it printed several lines that are not headers',
    ],
    [
      'prints words',
      'console.log("please log in s3cret-word")',
      'it printed several words that are not a header',
    ],
    ['prints broken JSON', 'console.log("{s3cret-word")', 'it printed JSON that cannot be read'],
    [
      'gives a header of the connection',
      'console.log("Host: s3cret-word")',
      'the header "Host" cannot be set: it belongs to the connection',
    ],
    [
      'gives a header with a line break',
      'console.log(JSON.stringify({ headers: { A: "s3cret-word\\n\\0" } }))',
      undefined,
    ],
  ] as const) {
    test(`is not asked anything when its helper ${what}`, async () => {
      await using server = await scriptedServer()
      await using node = await mcpNode()
      const helper = await makeHelper(node, script)
      await assert.rejects(
        callEcho(node, server, { auth_helper: helper.argv }),
        (reason: Error & { hint: string }) => {
          assert.match(reason.message, /^Cannot use the MCP server "far": its auth helper failed: /)
          assert.ok(reason.message.includes(why ?? 'header'), reason.message)
          assert.match(reason.hint, /run it by hand/)
          assert.doesNotMatch(reason.message, /s3cret-word/)
          return true
        },
      )
      assert.deepEqual(server.arrivals, [])
      assert.equal(node.servers.peers()[0]!.state, 'needs_auth')
      if (what === 'ends with a failure') {
        assert.deepEqual(node.servers.logs(agentFor(server, { auth_helper: helper.argv }), 'far'), [
          'auth helper: no login',
        ])
      }
    })
  }

  test('leaves no running helper behind when it is not waited for', async () => {
    await using server = await scriptedServer()
    await using node = await mcpNode()
    const helper = await makeHelper(node, 'setInterval(() => {}, 1_000)')
    const stop = new AbortController()
    const target = { ...NO_HEADERS, url: server.url, authHelper: helper.argv }
    const program = { argv: helper.argv, env: { MARK: node.folder } }
    const options = { target, protocol: 'http', processes: node.processes, cwd: node.folder } as const
    const rest = { helper: program, patienceMs: () => 60_000, now: Date.now, note: () => {} }
    const opening = openRemoteLink({ ...options, ...rest }, stop.signal)
    await until('the helper runs', async () => (await helper.runs().catch(() => 0)) === 1)
    assert.notEqual((await livingWith(node.folder)).length, 0)
    stop.abort()
    await assert.rejects(opening, { kind: 'cancelled' })
    await until('it is gone', async () => (await livingWith(node.folder)).length === 0)
  })

  test('is not asked anything when its helper is missing', async () => {
    await using server = await scriptedServer()
    await using node = await mcpNode()
    await assert.rejects(
      callEcho(node, server, { auth_helper: ['/nonexistent/helper'] }),
      /its auth helper failed: cannot/,
    )
    assert.deepEqual(server.arrivals, [])
  })

  test('that refuses the user of its URL is reported with a hint about credentials', async () => {
    await using server = await scriptedServer({ play: onlyFor('Bearer new-token') })
    await using node = await mcpNode()
    const url = server.url.replace('://', '://me:password@')
    await assert.rejects(callEcho(node, server, { url }), (reason: Error & { hint: string }) => {
      assert.match(reason.message, /its credentials were refused/)
      assert.match(reason.hint, /valid credentials/)
      return true
    })
  })

  test('that repeats its credentials in an answer is shown without them', async () => {
    await using server = await scriptedServer({
      play({ method, headers, id }, response) {
        if (method !== 'tools/call') return false
        const text = `you are ${headers.authorization}`
        sendJson(response, { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })
        return true
      },
    })
    await using node = await mcpNode()
    const helper = await makeHelper(node, 'console.log("token-of-helper")')
    for (const changes of [
      { auth: 'top-secret' },
      { headers: { Authorization: 'Bearer top-secret' } },
      { auth_helper: helper.argv },
    ]) {
      assert.match(await callEcho(node, server, changes), /^you are (Bearer )?\[secret\]$/)
    }
  })

  test("that repeats a helper's token while refusing a call is shown without it", async () => {
    await using server = await scriptedServer({
      play({ method, headers, id }, response) {
        if (method !== 'tools/call') return false
        const error = { code: -32602, message: `I know ${headers.authorization}` }
        sendJson(response, { jsonrpc: '2.0', id, error })
        return true
      },
    })
    await using node = await mcpNode()
    const helper = await makeHelper(node, 'console.log("token-of-helper")')
    const answer = await callEcho(node, server, { auth_helper: helper.argv })
    assert.match(answer, /refused the call: .*I know (Bearer )?\[secret\]$/)
  })

  test("that repeats a helper's token in its error is shown without it", async () => {
    await using server = await scriptedServer({
      play({ method, headers, id }, response) {
        if (method !== 'tools/call') return false
        sendJson(response, { id, error: { message: `I know ${headers.authorization}` } }, 500)
        return true
      },
    })
    await using node = await mcpNode()
    const helper = await makeHelper(node, 'console.log("token-of-helper")')
    await assert.rejects(callEcho(node, server, { auth_helper: helper.argv }), (reason: Error) => {
      assert.match(reason.message, /I know/)
      assert.doesNotMatch(reason.message, /token-of-helper/)
      return true
    })
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

/** Returns the server's answer to `hi`. */
const NO_HEADERS = { transport: 'http', headers: {}, auth: undefined } as const

async function callEcho(
  node: McpNode,
  server: ScriptedServer,
  changes: Partial<McpEntry> = {},
): Promise<string> {
  const at = { agent: agentFor(server, changes), name: 'far', tool: 'echo', args: { text: 'hi' } }
  return (await node.servers.call({ ...at, spillDir: node.folder }, NEVER)).output
}

function onlyFor(authorization: string): Play {
  return (arrival, response) => arrival.headers.authorization !== authorization && refuse(arrival, response)
}

function refuse(...[, response]: Parameters<Play>): true {
  response.setHeader('www-authenticate', 'Bearer error="invalid_token"')
  sendJson(response, { error: 'invalid_token' }, 401)
  return true
}

/** Returns a helper that runs a script, in which `run` counts the runs. */
async function makeHelper(
  node: McpNode,
  script: string,
): Promise<{ argv: string[]; runs(): Promise<number> }> {
  const [path, count] = [join(node.folder, 'helper.mjs'), join(node.folder, 'helper.runs')]
  const head = `import { appendFileSync, readFileSync } from 'node:fs'
appendFileSync(${JSON.stringify(count)}, '.')
const run = readFileSync(${JSON.stringify(count)}).length
`
  await writeFile(path, head + script)
  await chmod(path, 0o700)
  return { argv: [process.execPath, path], runs: async () => (await readFile(count)).length }
}
