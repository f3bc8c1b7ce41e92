import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { VERSION } from '../../../src/core/base/version.ts'
import {
  BEHAVIOURS,
  everythingEntry,
  filesystemEntry,
  type StdioEntry,
} from '../../support/mcp/mcp-servers.ts'
import type { ServerOptions } from '../../support/mcp/options.ts'
import { until } from '../../support/until.ts'
import { agentWith, type McpNode, mcpNode, NEVER, offer, run } from '../mcp-node.ts'

const SERVERS = {
  everything: () => everythingEntry(),
  filesystem: (folder: string) => filesystemEntry([folder]),
}
for (const [name, toEntry] of Object.entries(SERVERS)) {
  test(`the official server "${name}" can be connected, listed, pinged and called`, async () => {
    await using node = await mcpNode()
    const entry = toEntry(node.folder)
    const agent = agentWith([entry])
    const { tools: all, notices } = await offer(node, agent)
    const tools = all.filter(({ server }) => server !== undefined)
    assert.ok(tools.length > 5)
    assert.deepEqual(notices, [])
    for (const { parameters } of tools) assert.equal(parameters['type'], 'object')
    const { ms, peer } = await node.servers.ping(agent, entry.name, NEVER)
    assert.ok(ms >= 0)
    assert.deepEqual(
      [peer.protocolVersion, peer.state, peer.toolCount],
      ['2025-11-25', 'connected', tools.length],
    )
    const [tool, args] =
      name === 'everything' ? ['echo', { message: 'hi' }] : ['list_directory', { path: node.folder }]
    const answer = await run(node, agent, { name: `mcp__${entry.name}__${tool}`, args })
    assert.equal(answer?.isError, false)
    assert.match(answer.output, name === 'everything' ? /^Echo: hi$/ : /\[DIR\] cache/)
  })
}

const TOLERATED = [
  'good',
  'stderrFlood',
  'garbage',
  'hugeLines',
  'bom',
  'crlf',
  'splitLines',
  'twiceAnswered',
  'unknownAnswers',
  'lateAnswers',
  'textIds',
  'asking',
  'pages',
  'grandchild',
  'unadvertisedChanges',
  'modern',
  'bothEras',
] as const
for (const name of TOLERATED) {
  test(`a server that is "${name}" can be connected and called`, async () => {
    await using node = await mcpNode()
    const { agent, names } = await offerServer(node, BEHAVIOURS[name])
    assert.ok(names.includes('mcp__misbehaving__echo') && names.includes('mcp__misbehaving__mismatch'))
    const answers = await Promise.all(
      ['one', 'two', 'three'].map((text) =>
        run(node, agent, { name: 'mcp__misbehaving__echo', args: { text } }),
      ),
    )
    assert.deepEqual(
      answers.map((answer) => answer?.output),
      ['one', 'two', 'three'],
    )
  })
}

test('the newest common revision is negotiated, on one process', async () => {
  await using node = await mcpNode()
  const versions = async (options: ServerOptions) => {
    const server = node.watch(options)
    const agent = agentWith([server.entry])
    const { protocolVersion } = await node.servers.connect(agent, 'misbehaving', NEVER)
    return [protocolVersion, server.starts().length]
  }
  assert.deepEqual(await versions({ era: 'legacy' }), ['2025-11-25', 1])
  assert.deepEqual(await versions({ era: 'legacy', protocol: '2024-11-05' }), ['2024-11-05', 1])
  assert.deepEqual(await versions({ era: 'modern' }), ['2026-07-28', 1])
  assert.deepEqual(await versions({ era: 'both' }), ['2026-07-28', 1])
})

test('a server that exits at the version probe is restarted, and never probed again', async () => {
  await using node = await mcpNode()
  const server = node.watch(BEHAVIOURS.exitOnProbe)
  const agent = agentWith([server.entry])
  assert.equal((await node.servers.connect(agent, 'misbehaving', NEVER)).protocolVersion, '2025-11-25')
  assert.equal(server.starts().length, 2)
  await node.servers.reconnect(agent, 'misbehaving', NEVER)
  assert.equal(server.starts().length, 3)
  await node.servers.hook.onUnregisterAgent!(agent)
  await using other = await node.openAnother()
  await other.servers.connect(agent, 'misbehaving', NEVER)
  assert.equal(server.starts().length, 4)
  assert.equal(server.messages('server/discover').length, 1)
})

test('the revision of a server is probed again after a week', async () => {
  await using node = await mcpNode()
  const server = node.watch()
  const agent = agentWith([server.entry])
  await node.servers.connect(agent, 'misbehaving', NEVER)
  await node.servers.reconnect(agent, 'misbehaving', NEVER)
  assert.equal(server.messages('server/discover').length, 1)
  node.advancedMs = 8 * 24 * 3_600_000
  await node.servers.reconnect(agent, 'misbehaving', NEVER)
  await node.servers.reconnect(agent, 'misbehaving', NEVER)
  assert.equal(server.messages('server/discover').length, 2)
})

test('a server that was missing is used with the newest revision once it exists', async () => {
  await using node = await mcpNode()
  const script = join(node.folder, 'server')
  const agent = agentWith([{ name: 's', command: script }])
  await assert.rejects(node.servers.connect(agent, 's', NEVER), { message: /the file .+ does not exist/ })
  const { command, args } = node.watch({ era: 'both' }).entry
  const line = [command, ...args].map((word) => `'${word}'`).join(' ')
  await writeFile(script, `#!/bin/sh\nexec ${line}\n`, { mode: 0o755 })
  assert.equal((await node.servers.connect(agent, 's', NEVER)).protocolVersion, '2026-07-28')
})

test('a server that does not answer the version probe is treated as an older one', async () => {
  await using node = await mcpNode()
  const { entry, starts } = node.watch(BEHAVIOURS.hangOnProbe)
  const agent = agentWith([{ ...entry, startup_timeout_ms: 10_000 }])
  assert.equal((await node.servers.connect(agent, 'misbehaving', NEVER)).protocolVersion, '2025-11-25')
  assert.equal(starts().length, 1)
})

test('an older server that was updated to only the newest revision is connected', async () => {
  await using node = await mcpNode()
  const script = join(node.folder, 'server.sh')
  const write = ({ command, args }: StdioEntry) =>
    writeFile(script, `exec ${[command, ...args].map((word) => `'${word}'`).join(' ')}\n`)
  await write(node.watch({ era: 'legacy' }).entry)
  const agent = agentWith([{ name: 's', command: '/bin/sh', args: [script] }])
  assert.equal((await node.servers.connect(agent, 's', NEVER)).protocolVersion, '2025-11-25')
  await write(node.watch({ era: 'modern' }).entry)
  assert.equal((await node.servers.reconnect(agent, 's', NEVER)).protocolVersion, '2026-07-28')
})

test('unsupported requests of a server are answered with "method not found", a ping with a pong', async () => {
  await using node = await mcpNode()
  const { agent } = await offerServer(node, {})
  const ask = async (method: string) =>
    JSON.parse((await run(node, agent, { name: 'mcp__misbehaving__ask', args: { method } }))!.output)
  assert.deepEqual(await ask('ping'), {})
  for (const method of ['roots/list', 'sampling/createMessage']) {
    assert.equal((await ask(method)).error.code, -32601)
  }
})

test('unsupported input requests of a server of the newest revision are refused with a reason', async () => {
  await using node = await mcpNode()
  const { agent } = await offerServer(node, { era: 'modern' })
  const args = { method: 'sampling/createMessage' }
  assert.deepEqual(await run(node, agent, { name: 'mcp__misbehaving__ask', args }), {
    output:
      'misbehaving refused the call: it asks for something that was not offered: sampling/createMessage',
    isError: true,
  })
})

test('the client names itself, and offers only elicitation', async () => {
  await using node = await mcpNode()
  const server = node.watch()
  await node.servers.connect(agentWith([server.entry]), 'misbehaving', NEVER)
  const [initialize] = server.messages('initialize')
  const { clientInfo, capabilities } = initialize!.params!
  assert.deepEqual(
    [clientInfo, capabilities],
    [{ name: 'crabtalk', version: VERSION }, { elicitation: { form: {}, url: {} } }],
  )
})

for (const [name, message] of [
  ['crashOnStart', /it exited with code 1: Error: cannot open the database/],
  ['crashOnInitialize', /it exited with code 1: Error: cannot open the database/],
  ['crashOnList', /it exited with code 1: Error: cannot open the database/],
  ['errorOnList', /tools\/list failed on purpose/],
  ['wrongVersion', /the handshake failed: .*1999-12-31/],
] as const) {
  test(`a server that is "${name}" is not available, with the reason`, async () => {
    await using node = await mcpNode()
    const { entry } = node.watch(BEHAVIOURS[name])
    const agent = agentWith([entry])
    await assert.rejects(node.servers.connect(agent, 'misbehaving', NEVER), { kind: 'unavailable', message })
    const [peer] = node.servers.peers()
    assert.equal(peer!.state, 'failed')
    assert.match(peer!.error, message)
  })
}

for (const name of ['hangOnInitialize', 'hangOnList', 'nullIds'] as const) {
  test(`a server that is "${name}" is given up after its time`, async () => {
    await using node = await mcpNode()
    const { entry } = node.watch(BEHAVIOURS[name])
    const agent = agentWith([{ ...entry, startup_timeout_ms: 1_000 }])
    await assert.rejects(node.servers.connect(agent, 'misbehaving', NEVER), {
      kind: 'unavailable',
      message: /it was not ready within 1 s/,
    })
  })
}

test('a server that cannot be started says why, with what to do', async () => {
  await using node = await mcpNode()
  const agent = agentWith([
    { name: 'gone', command: 'no-such-program' },
    { name: 'lost', command: 'cat', cwd: '/no/such/folder' },
  ])
  await assert.rejects(node.servers.connect(agent, 'gone', NEVER), {
    kind: 'unavailable',
    message: /"gone": cannot start no-such-program: no program of that name is on the PATH/,
    hint: /install it/,
  })
  await assert.rejects(node.servers.connect(agent, 'lost', NEVER), {
    kind: 'unavailable',
    message: /no\/such\/folder/,
  })
})

test('a server gets its environment, its directory and its home', async () => {
  await using node = await mcpNode({
    baseEnv: { BASE: 'base', BOTH: 'base' },
    env: { PATH: process.env['PATH'], HOME: '/home/me', OPENAI_API_KEY: 'sk-secret' },
  })
  const { agent } = await offerServer(node, {}, { env: { BOTH: 'own', OWN: 'own' } })
  const answer = await run(node, agent, { name: 'mcp__misbehaving__env' })
  const { CRAB_TEST: _, CRABTALK_OWNER: __, ...environment } = JSON.parse(answer!.output)
  assert.deepEqual(environment, {
    PATH: process.env['PATH'],
    HOME: '/home/me',
    BASE: 'base',
    BOTH: 'own',
    OWN: 'own',
  })
  assert.equal((await run(node, agent, { name: 'mcp__misbehaving__cwd' }))?.output, node.folder)
})

test('standard error is read continuously, and its last 200 lines are kept', async () => {
  await using node = await mcpNode()
  const { agent } = await offerServer(node, {})
  for (const bytes of [3_000_000, 3_000_000]) {
    await run(node, agent, { name: 'mcp__misbehaving__stderr', args: { bytes } })
  }
  await run(node, agent, {
    name: 'mcp__misbehaving__stderr',
    args: { text: 'the \u001b[1mlast\u001b[0m line' },
  })
  await until('the line is there', () => node.servers.logs(agent, 'misbehaving').at(-1) === 'the last line')
  assert.equal(node.servers.logs(agent, 'misbehaving').length, 200)
})

async function offerServer(node: McpNode, options: ServerOptions, start = {}) {
  const server = node.watch(options, start)
  const agent = agentWith([server.entry])
  return { server, agent, ...(await offer(node, agent)) }
}
