import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { listTools } from '../../../src/mcp/connection/pages.ts'
import { ODD_NAMES } from '../../support/mcp/bad-tools.ts'
import { BEHAVIOURS } from '../../support/mcp/mcp-servers.ts'
import type { ServerOptions } from '../../support/mcp/options.ts'
import { until } from '../../support/until.ts'
import { agentWith, type McpNode, mcpNode, NEVER, offer, run } from '../mcp-node.ts'

test('listTools() reads all pages in order', async () => {
  const pages: Record<string, unknown> = {
    first: { tools: [toolNamed('a')], nextCursor: 'x' },
    x: { tools: [toolNamed('b')], nextCursor: '' },
    '': { tools: [toolNamed('c')] },
  }
  const { tools } = await listTools(async (cursor) => pages[cursor ?? 'first'])
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['a', 'b', 'c'],
  )
})

test('listTools() stops at a repeated cursor, also on a later page', async () => {
  const next: Record<string, string> = { first: 'x', x: 'y', y: 'x' }
  const cursors: unknown[] = []
  const { tools, dropped } = await listTools(async (cursor) => {
    cursors.push(cursor)
    return { tools: [toolNamed('a')], nextCursor: next[cursor ?? 'first'] }
  })
  assert.deepEqual([tools.length, dropped, cursors], [1, [], [undefined, 'x', 'y']])
})

test('listTools() treats an answer without a list as an empty one', async () => {
  for (const answer of [{}, null, 7, { tools: 'none' }, { tools: [], nextCursor: 7 }]) {
    assert.deepEqual(await listTools(async () => answer), { tools: [], dropped: [] })
  }
})

test('an endless list is cut, with a warning', async () => {
  await using node = await mcpNode()
  const { names, notices } = await offerServer(node, BEHAVIOURS.endlessCursor)
  assert.ok(names.length > 50)
  assert.match(notices.join(), /further tools \(their list does not end\)/)
})

test('a repeated cursor ends the list without a warning', async () => {
  await using node = await mcpNode()
  const { names, notices } = await offerServer(node, { ...BEHAVIOURS.repeatingCursor, tools: ['few'] })
  assert.deepEqual([names, notices], [['mcp__misbehaving__add', 'mcp__misbehaving__echo'], []])
})

test('tools with odd names are offered under names that models accept, and called by their own', async () => {
  await using node = await mcpNode()
  const { agent, tools } = await offerServer(node, { tools: ['odd'] })
  assert.equal(tools.length, ODD_NAMES.length)
  assert.deepEqual(new Set(tools.map(({ alias }) => alias)), new Set(ODD_NAMES))
  for (const { name, alias } of tools) {
    assert.match(name, /^mcp__misbehaving__[A-Za-z0-9_-]{1,47}$/)
    assert.equal(JSON.parse((await run(node, agent, { name }))!.output), alias)
  }
})

test('the first of two tools with one name is offered, and the other is reported', async () => {
  await using node = await mcpNode()
  const { agent, names, notices } = await offerServer(node, { tools: ['twins'] })
  assert.deepEqual(names, ['mcp__misbehaving__between', 'mcp__misbehaving__twin'])
  assert.equal((await run(node, agent, { name: 'mcp__misbehaving__twin' }))?.output, 'first')
  assert.match(notices.join(), /"misbehaving" has tools that cannot be used: twin \(its name is taken\)/)
})

test('a tool with an invalid input schema is omitted and reported; an invalid output schema does no harm', async () => {
  await using node = await mcpNode()
  const { agent, names, notices } = await offerServer(node, BEHAVIOURS.badSchemas)
  assert.deepEqual(
    names.map((name) => name.replace('mcp__misbehaving__', '')),
    [
      'add',
      'broken_pattern',
      'circular_ref',
      'echo',
      'no_schema',
      ...['output_broken_pattern', 'output_deep', 'output_not_object', 'output_remote_ref'],
      ...['output_slow_pattern', 'output_unknown_type', 'untyped'],
    ],
  )
  assert.match(notices.join(), /null_schema \(its schema is not an object\), .* and \d+ more$/)
  for (const name of names.filter((one) => one.includes('output'))) {
    assert.equal((await run(node, agent, { name }))?.isError, false)
  }
})

test('a tool that cannot be offered is reported once to each agent', async () => {
  await using node = await mcpNode()
  const { server, agent, notices } = await offerServer(node, { tools: ['twins'] })
  assert.equal(notices.length, 1)
  assert.deepEqual((await offer(node, agent)).notices, [])
  assert.equal((await offer(node, agentWith([server.entry]))).notices.length, 1)
})

for (const [what, options] of Object.entries<ServerOptions>({
  'an older revision': {},
  'an older revision, unadvertised': BEHAVIOURS.unadvertisedChanges,
  'the newest revision': BEHAVIOURS.modern,
})) {
  test(`a list that changes in ${what} is read again, and the next turn has it`, async () => {
    await using node = await mcpNode()
    const { agent, server } = await offerServer(node, options)
    const before = node.servers.view(agent).generation
    await change(node, { add: ['fresh'], remove: ['echo'], times: 20 })
    await until('the list is read', () => node.servers.view(agent).generation > before)
    const { names } = await offer(node, agent)
    assert.ok(names.includes('mcp__misbehaving__fresh') && !names.includes('mcp__misbehaving__echo'))
    assert.equal((await run(node, agent, { name: 'mcp__misbehaving__fresh' }))?.output, 'fresh')
    assert.ok(node.events.at(-1)?.tools.includes('fresh'))
    await sleep(400) // more reads would have started by then
    assert.ok(server.messages('tools/list').length < 10) // of 21 notifications; late ones are handled late

    function change(at: McpNode, args: Record<string, unknown>) {
      return run(at, agent, { name: 'mcp__misbehaving__change', args })
    }
  })
}

test('a list that changes while it is read for the first time is read again', async () => {
  await using node = await mcpNode()
  const entry = { name: 's', command: process.execPath, args: ['-e', CHANGES_MEANWHILE] }
  const agent = agentWith([entry])
  assert.deepEqual((await offer(node, agent)).names, ['mcp__s__v1'])
  await until('the list is read', () => node.servers.view(agent).servers[0]!.tools[0]!.remoteName === 'v2')
})

test('a turn continues with the tools it was shown when the list changes meanwhile', async () => {
  await using node = await mcpNode()
  const { agent } = await offerServer(node, {})
  const before = node.servers.view(agent).generation
  await run(node, agent, { name: 'mcp__misbehaving__change', args: { remove: ['echo'] } })
  await until('the list is read', () => node.servers.view(agent).generation > before)
  await assert.rejects(run(node, agent, { name: 'mcp__misbehaving__echo', args: { text: 'x' } })!, {
    kind: 'missing',
    message: /Cannot call echo of the MCP server "misbehaving": it no longer has this tool/,
  })
})

test('a server that reports a change after each read is not read in a loop', async () => {
  await using node = await mcpNode()
  const { server } = await offerServer(node, { ...BEHAVIOURS.listLoop, tools: ['few'] })
  await until('it was read again', () => server.messages('tools/list').length >= 3)
  await sleep(700) // a loop would have read it many times by then
  assert.ok(server.messages('tools/list').length <= 4)
})

test('the offer stays the same, byte for byte, as long as nothing changes', async () => {
  await using node = await mcpNode()
  const { agent, tools } = await offerServer(node, {})
  assert.equal(JSON.stringify((await offer(node, agent)).tools), JSON.stringify(tools))
  await node.servers.reconnect(agent, 'misbehaving', NEVER)
  assert.equal(JSON.stringify((await offer(node, agent)).tools), JSON.stringify(tools))
  await using other = await node.openAnother()
  assert.equal(JSON.stringify((await offer(other, agent)).tools), JSON.stringify(tools))
})

async function offerServer(node: McpNode, options: ServerOptions) {
  const server = node.watch(options)
  const agent = agentWith([server.entry])
  return { server, agent, ...(await offer(node, agent)) }
}

/** Options of a server whose first list is outdated when it is sent. */
const CHANGES_MEANWHILE = `
let lists = 0
const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  if (method === 'initialize') {
    const capabilities = { tools: { listChanged: true } }
    const serverInfo = { name: 's', version: '1' }
    return send({ id, result: { protocolVersion: '2025-11-25', capabilities, serverInfo } })
  }
  if (method !== 'tools/list') return send({ id, error: { code: -32601, message: 'Method not found' } })
  lists++
  if (lists === 1) send({ method: 'notifications/tools/list_changed' })
  const answer = { id, result: { tools: [{ name: 'v' + lists, inputSchema: { type: 'object' } }] } }
  setTimeout(send, 600, answer)
})
`

function toolNamed(name: string): object {
  return { name, inputSchema: { type: 'object' } }
}
