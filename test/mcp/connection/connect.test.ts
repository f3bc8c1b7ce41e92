import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectServer } from '../../../src/mcp/connection/connect.ts'
import type { Connection } from '../../../src/mcp/connection/connection.ts'
import { serverEnvironment } from '../../../src/mcp/stdio/environment.ts'
import { LineTail } from '../../../src/mcp/stdio/stderr-tail.ts'
import { openStdioLink } from '../../../src/mcp/stdio/stdio-link.ts'
import { BEHAVIOURS, type WatchedServer } from '../../support/mcp/mcp-servers.ts'
import { type McpNode, mcpNode, NEVER } from '../mcp-node.ts'

test('a server that answers the question for the newest revision too late is asked again', async () => {
  await using node = await mcpNode()
  const server = node.watch(BEHAVIOURS.lateModern)
  const connection = await reach(node, server)
  assert.equal(connection.protocolVersion, '2026-07-28')
  assert.ok((await connection.listTools(NEVER)).tools.length > 0)
  assert.deepEqual(asked(server), ['server/discover', 'initialize', 'server/discover'])
  assert.equal(server.starts().length, 1)
  await connection.close()
})

test('a server of an older revision that does not answer the question is spoken to in its own', async () => {
  await using node = await mcpNode()
  const server = node.watch(BEHAVIOURS.hangOnProbe)
  const connection = await reach(node, server)
  assert.equal(connection.protocolVersion, '2025-11-25')
  assert.deepEqual(asked(server), ['server/discover', 'initialize'])
  await connection.close()
})

test('a server of an older revision that refuses is asked once more when it was too late, and its own words are told', async () => {
  await using node = await mcpNode()
  const server = node.watch({ late: { 'server/discover': 'initialize' }, at: { initialize: 'error' } })
  await assert.rejects(reach(node, server), {
    kind: 'unavailable',
    message: 'the handshake failed: initialize failed on purpose',
  })
  assert.deepEqual(asked(server), ['server/discover', 'initialize', 'server/discover'])
})

test('a server of an older revision that answers the question and refuses is not asked again', async () => {
  await using node = await mcpNode()
  const server = node.watch({ at: { initialize: 'error' } })
  await assert.rejects(reach(node, server, 60_000), { message: /initialize failed on purpose/ })
  assert.deepEqual(asked(server), ['server/discover', 'initialize'])
})

/** Connects to a server that has all the time it needs, and so long for the question. */
async function reach(node: McpNode, { entry }: WatchedServer, probeMs = 10): Promise<Connection> {
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

/** What came before the first list. */
function asked(server: WatchedServer): (string | undefined)[] {
  return server.messages().flatMap(({ method }) => (FIRST.includes(method!) ? [method] : []))
}

const FIRST = ['server/discover', 'initialize']
