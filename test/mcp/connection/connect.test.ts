import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectServer } from '../../../src/mcp/connection/connect.ts'
import type { Connection } from '../../../src/mcp/connection/connection.ts'
import { serverEnvironment } from '../../../src/mcp/stdio/environment.ts'
import { LineTail } from '../../../src/mcp/stdio/stderr-tail.ts'
import { openStdioLink } from '../../../src/mcp/stdio/stdio-link.ts'
import { BEHAVIOURS, type WatchedServer } from '../../support/mcp/mcp-servers.ts'
import { type McpNode, mcpNode, NEVER } from '../mcp-node.ts'

test('a server that answers the version probe too late is asked again', async () => {
  await using node = await mcpNode()
  const server = node.watch(BEHAVIOURS.lateModern)
  const connection = await connectTo(node, server)
  assert.equal(connection.protocolVersion, '2026-07-28')
  assert.ok((await connection.listTools(NEVER)).tools.length > 0)
  assert.deepEqual(listFirstMethods(server), ['server/discover', 'initialize', 'server/discover'])
  assert.equal(server.starts().length, 1)
  await connection.close()
})

test('a server of an older revision that ignores the version probe is used with its own revision', async () => {
  await using node = await mcpNode()
  const server = node.watch(BEHAVIOURS.hangOnProbe)
  const connection = await connectTo(node, server)
  assert.equal(connection.protocolVersion, '2025-11-25')
  assert.deepEqual(listFirstMethods(server), ['server/discover', 'initialize'])
  await connection.close()
})

test('an older server that refuses is probed once more if the first answer was late, and its own error is reported', async () => {
  await using node = await mcpNode()
  const server = node.watch({ late: { 'server/discover': 'initialize' }, at: { initialize: 'error' } })
  await assert.rejects(connectTo(node, server), {
    kind: 'unavailable',
    message: 'the handshake failed: initialize failed on purpose',
  })
  assert.deepEqual(listFirstMethods(server), ['server/discover', 'initialize', 'server/discover'])
})

test('an older server that answers the version probe and refuses is not probed again', async () => {
  await using node = await mcpNode()
  const server = node.watch({ at: { initialize: 'error' } })
  await assert.rejects(connectTo(node, server, 60_000), { message: /initialize failed on purpose/ })
  assert.deepEqual(listFirstMethods(server), ['server/discover', 'initialize'])
})

/** Connects to a server with a generous timeout, and this many milliseconds for the version probe. */
async function connectTo(node: McpNode, { entry }: WatchedServer, probeMs = 10): Promise<Connection> {
  const target = {
    transport: 'stdio',
    command: entry.command,
    args: entry.args,
    cwd: node.folder,
    env: {},
  } as const
  const env = serverEnvironment(process.env, {})
  const open = () => openStdioLink({ processes: node.processes, target, env, stderr: new LineTail() })
  const needed = Promise.resolve()
  const nothing = () => {}
  const options = { open, needed, era: undefined, onToolsChanged: nothing, onSilentExit: nothing }
  return await connectServer({ ...options, startupMs: 60_000, probeMs }, NEVER)
}

/** Returns the methods called before the first list. */
function listFirstMethods(server: WatchedServer): (string | undefined)[] {
  return server.messages().flatMap(({ method }) => (FIRST.includes(method!) ? [method] : []))
}

const FIRST = ['server/discover', 'initialize']
