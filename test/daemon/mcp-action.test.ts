import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { McpActionKind, McpPeerState, PolicyEffect } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../src/core/protocol/dispatch.ts'
import { startMcpNode } from '../support/mcp/mcp-node.ts'
import {
  entriesToml,
  type StdioEntry,
  type WatchedServer,
  watchedServer,
} from '../support/mcp/mcp-servers.ts'
import type { ServerOptions } from '../support/mcp/options.ts'
import { recordFolder } from '../support/mcp/record-folder.ts'
import type { TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const ID = '01JZZZZZZZZZZZZZZZZZZZZZZZ'
const { PING, RECONNECT, ENABLE, DISABLE, CALL, LOGS, TOOLS } = McpActionKind

test('ping starts a server once, and reports how long connecting and the ping took', async () => {
  await using node = await startServerNode({ tools: ['few'] })
  const result = await act(node, PING)
  assert.equal(result.peer?.state, McpPeerState.CONNECTED)
  assert.equal(result.peer?.toolCount, 2)
  assert.ok(result.connectMs > 0)
  await act(node, PING)
  assert.equal(node.server.starts().length, 1)
})

test('reconnect starts the server again', async () => {
  await using node = await startServerNode({ tools: ['few'] })
  await act(node, PING)
  assert.equal((await act(node, RECONNECT)).peer?.state, McpPeerState.CONNECTED)
  assert.equal(node.server.starts().length, 2)
})

test('tools starts the server and lists its tools with what the rules say about each', async () => {
  await using node = await startServerNode(
    { tools: ['few'] },
    'exclude = ["add"]\npermissions = { deny = ["echo"] }\n',
  )
  const { tools } = await act(node, TOOLS)
  assert.deepEqual(
    tools.map(({ remoteName, name, effect }) => [remoteName, name, effect]),
    [
      ['echo', 'mcp__one__echo', PolicyEffect.DENY],
      ['add', '', PolicyEffect.UNSPECIFIED],
    ],
  )
  assert.equal(tools[0]?.rule?.pattern, 'mcp__one__echo')
  assert.match(tools[1]?.hidden ?? '', /exclude/)
})

test('logs returns the last log lines of a server', async () => {
  await using node = await startServerNode({})
  await call(node, 'stderr', { text: 'something happened' })
  const { logs } = await act(node, LOGS)
  assert.ok(logs.includes('something happened'), logs.join('\n'))
})

test("call returns the result of a tool, by the server's name for it or the model's", async () => {
  await using node = await startServerNode({})
  for (const tool of ['echo', 'mcp__one__echo']) {
    const { output, isError, attachments } = await call(node, tool, { text: 'hello' })
    assert.deepEqual([output, isError, attachments], ['hello', false, []])
  }
  const failed = await call(node, 'fail', { text: 'no luck' })
  assert.deepEqual([failed.isError, failed.output.includes('no luck')], [true, true])
  const [image] = (await call(node, 'image', {})).attachments
  assert.equal(image?.mediaType, 'image/png')
  assert.equal(
    Buffer.from(image?.data ?? [])
      .subarray(1, 4)
      .toString(),
    'PNG',
  )
})

test('call returns all of a long result, whatever the limit for models', async () => {
  await using node = await startServerNode({}, 'output_limit = 1000\n')
  assert.equal((await call(node, 'big', { bytes: 500_000 })).output.length, 500_000)
})

test('call stores all of a result that is too long for an answer', async () => {
  await using node = await startServerNode({})
  const { output } = await call(node, 'big', { bytes: 9_000_000 })
  const [path] = /\/\S*cache\/output\/[^\s\]]+/.exec(output) ?? []
  assert.ok(path, output.slice(-300))
  assert.equal((await readFile(path)).length, 9_000_000)
})

test('call leaves no folder behind when the answer holds the whole result', async () => {
  await using node = await startServerNode({})
  const calling = call(node, 'echo', { text: 'x' })
  assert.equal((await calling).output, 'x')
  const { cache } = node.home.paths
  assert.deepEqual(await readdir(join(cache, 'output', 'mcp')).catch(() => []), [])
})

test('call suggests the nearest tool, and says why one is not available', async () => {
  await using node = await startServerNode({ tools: ['few'] }, 'exclude = ["add"]\n')
  await assert.rejects(call(node, 'ehco', {}), { kind: 'missing', hint: 'did you mean "echo"?' })
  await assert.rejects(call(node, 'add', {}), {
    kind: 'missing',
    message: /^Cannot call add of "one": .*exclude/,
  })
  const body = { agent: 'crab', name: 'one', action: CALL, tool: 'echo', arguments: '[]' }
  await assert.rejects(request(node.dispatch, 'mcpAction', body, NEVER), { kind: 'invalid' })
})

test('call runs what a turn would ask about for a local user, but nothing that a rule denies', async () => {
  await using node = await startServerNode(
    { tools: ['few'] },
    'permissions = { ask = ["echo"], deny = ["add"] }\n',
  )
  assert.equal((await call(node, 'echo', { text: 'x' })).output, 'x')
  await assert.rejects(call(node, 'add', { a: 1, b: 2 }), {
    kind: 'denied',
    message: /^Cannot call add of "one": agents\/crab\.toml:\d+ denies mcp__one__add$/,
    hint: /mcp__one__add/,
  })
  assert.deepEqual(node.server.messages('tools/call').length, 1)
})

test('enable and disable write one key, keep every comment, and start nothing', async () => {
  await using node = await startServerNode({ tools: ['few'] }, 'disabled = true # for now\n')
  const text = await node.home.read('agents/crab.toml')
  const enabled = text.replace('disabled = true # for now', 'disabled = false # for now')
  await assert.rejects(act(node, PING), { kind: 'config' })
  await act(node, ENABLE)
  assert.equal(await node.home.read('agents/crab.toml'), enabled)
  await act(node, ENABLE)
  assert.equal(await node.home.read('agents/crab.toml'), enabled)
  await act(node, DISABLE)
  assert.equal(await node.home.read('agents/crab.toml'), text)
  assert.deepEqual(node.server.starts(), [])
})

test('mcp_action rejects unknown servers, agents and actions', async () => {
  await using node = await startServerNode({ tools: ['few'] })
  const actOnServer = (body: object) => request(node.dispatch, 'mcpAction', body, NEVER)
  await assert.rejects(actOnServer({ name: 'onne', action: PING }), {
    kind: 'missing',
    hint: 'did you mean "one"?',
  })
  await assert.rejects(actOnServer({ agent: 'nobody', name: 'one', action: PING }), { kind: 'missing' })
  await assert.rejects(actOnServer({ name: 'one' }), { kind: 'invalid' })
})

interface ServerNode extends Omit<TestDispatch, 'server'> {
  server: WatchedServer
}

/** Starts a node whose default agent has one server; `more` holds further lines of its entry. */
async function startServerNode(options: ServerOptions, more = ''): Promise<ServerNode> {
  const records = await recordFolder()
  const node = await startMcpNode([])
  const server = watchedServer(records.path, options, { name: 'one' })
  const entry: StdioEntry = server.entry
  await node.home.write('agents/crab.toml', `id = "${ID}"\n\n${entriesToml(entry)}${more}`)
  return {
    ...node,
    server,
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]()
      await records[Symbol.asyncDispose]()
    },
  }
}

function act({ dispatch }: { dispatch: Dispatch }, action: McpActionKind) {
  return request(dispatch, 'mcpAction', { agent: 'crab', name: 'one', action }, NEVER)
}

function call({ dispatch }: { dispatch: Dispatch }, tool: string, args: object) {
  const body = { agent: 'crab', name: 'one', action: CALL, tool, arguments: JSON.stringify(args) }
  return request(dispatch, 'mcpAction', body, NEVER)
}
