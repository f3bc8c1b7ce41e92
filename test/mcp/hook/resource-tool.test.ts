import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CREDENTIALS } from '../../support/mcp/credentials.ts'
import { askingEntry, BEHAVIOURS } from '../../support/mcp/mcp-servers.ts'
import { agentWith, mcpNode, offer, run } from '../mcp-node.ts'

test('an agent with a server that has resources gets one more tool, others do not', async () => {
  await using node = await mcpNode()
  const { entry } = node.watch(BEHAVIOURS.good)
  const without = await offer(node, agentWith([entry]))
  assert.ok(!without.names.includes('mcp_resources'))
  const both = await offer(node, agentWith([entry, askingEntry()]))
  assert.equal(both.names.at(-1), 'mcp_resources')
  assert.equal(both.names.filter((name) => name === 'mcp_resources').length, 1)
  const [spec] = both.tools.slice(-1)
  assert.ok(JSON.stringify(spec).length < 250)
})

test('the tool lists and reads what servers have', async () => {
  await using node = await mcpNode()
  const agent = agentWith([askingEntry()])
  await offer(node, agent)
  const use = (args: Record<string, unknown>) => run(node, agent, { name: 'mcp_resources', args })
  const read = await use({ server: 'docs', uri: 'docs://page/2' })
  assert.deepEqual(read, { output: 'This is page 2', isError: false })
  const refused = await use({ server: 'docs', uri: 'docs://none' })
  assert.match(refused!.output, /^docs refused: /)
  assert.equal(refused!.isError, true)
})

test('reading is judged as a call of its server, listing is not asked about', async () => {
  await using node = await mcpNode()
  const agent = agentWith([askingEntry()])
  const { tools } = await offer(node, agent)
  const describe = async (args: Record<string, unknown>) =>
    node.servers.hook.describe!('mcp_resources', { args, agent, cwd: node.folder })
  assert.deepEqual(await describe({ server: 'docs', uri: 'docs://readme' }), {
    ...{ kind: 'mcp', server: 'docs', tool: 'resources/read', name: 'mcp__docs__resources_read' },
  })
  assert.equal(await describe({ server: 'docs' }), undefined)
  assert.equal(tools.at(-1)?.readOnly, true)
  await assert.rejects(describe({ server: 'other', uri: 'x:y' }), {
    kind: 'invalid',
    message: /one of docs$/,
  })
  await assert.rejects(describe({ server: 'docs', uri: 7 }), { kind: 'invalid' })
})

test('a URI that contains a secret is not sent to its server', async () => {
  await using node = await mcpNode()
  const agent = agentWith([askingEntry()])
  await offer(node, agent)
  const uri = `docs://page/${CREDENTIALS['a GitHub token']}`
  await assert.rejects(run(node, agent, { name: 'mcp_resources', args: { server: 'docs', uri } })!, {
    kind: 'denied',
    message:
      /^Cannot call resources\/read of the MCP server "docs": the argument uri looks like a credential/,
  })
})

test('the tool lists every server, also one that cannot be asked', async () => {
  await using node = await mcpNode()
  const agent = agentWith([askingEntry()])
  await offer(node, agent)
  const action = { kind: 'tool', name: 'mcp_resources', harmless: true } as const
  const call = { agent, args: {}, action, sender: 'ann', runId: 'run' }
  const listed = await node.servers.hook.dispatch!(
    'mcp_resources',
    call as never,
    new AbortController().signal,
  )
  assert.match(listed!.output, /^docs docs:\/\/readme · readme, text\/markdown: What this is\n/)
  assert.match(listed!.output, /\ndocs docs:\/\/page\/\{number\} · page: One page$/)
})
