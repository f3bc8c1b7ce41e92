import assert from 'node:assert/strict'
import { test } from 'node:test'
import { McpPeerState, PolicyEffect } from '../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import { startMcpNode } from '../support/mcp/mcp-node.ts'
import { entriesToml, watchedServer } from '../support/mcp/mcp-servers.ts'
import { recordFolder } from '../support/mcp/record-folder.ts'
import { startObservedNode } from '../support/observed-node.ts'
import type { TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const ID = '01JZZZZZZZZZZZZZZZZZZZZZZZ'
const RULES = 'permissions = { allow = ["e*"], deny = ["*secret*"] }\n'

test('mcp_view returns what an agent declares and where, and starts nothing', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, { tools: ['few'] }, { name: 'one', env: { TOKEN: 'hunter2' } })
  await node.home.write('agents/crab.toml', `id = "${ID}"\n\n${entriesToml(server.entry)}`)
  const view = await viewAgents(node, 'crab')
  const [agent] = view.agents
  assert.deepEqual([agent?.agent, agent?.mode], ['crab', 'all'])
  assert.deepEqual(
    agent?.servers.map(({ name, source, state, tools }) => [name, source, state, tools]),
    [['one', 'agents/crab.toml:3', McpPeerState.IDLE, []]],
  )
  assert.deepEqual(server.starts(), [])
  assert.doesNotMatch(JSON.stringify(view), /hunter2/)
})

test('mcp_view returns for each listed tool what the rules of config, agent and entry decide', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([], { config: '\n[permissions]\nask = ["mcp__one__add"]\n' })
  const server = watchedServer(records.path, { tools: ['few'] }, { name: 'one' })
  await node.home.write('agents/crab.toml', `id = "${ID}"\n\n${entriesToml(server.entry)}${RULES}`)
  await request(
    node.dispatch,
    'upsertMcp',
    { agent: 'crab', config: await readEntry(node), verify: true },
    NEVER,
  )
  const [listing] = (await viewAgents(node, 'crab')).agents[0]!.servers
  assert.deepEqual(
    listing?.tools.map(({ remoteName, name, effect, rule }) => [
      remoteName,
      name,
      effect,
      rule?.pattern,
      rule?.source,
    ]),
    [
      ['echo', 'mcp__one__echo', PolicyEffect.ALLOW, 'mcp__one__e*', listing?.tools[0]?.rule?.source],
      ['add', 'mcp__one__add', PolicyEffect.ASK, 'mcp__one__add', listing?.tools[1]?.rule?.source],
    ],
  )
  assert.match(listing?.tools[0]?.rule?.source ?? '', /^agents\/crab\.toml/)
  assert.match(listing?.tools[1]?.rule?.source ?? '', /^config\.toml:\d+$/)
  assert.equal(server.starts().length, 1)
})

test('mcp_view says in words which tools exist, and why one is hidden', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, { tools: ['few'] }, { name: 'one' })
  const entry = { ...server.entry, include: ['echo'] }
  await request(node.dispatch, 'createAgent', { name: 'none', config: '', prompt: '' }, NEVER)
  await request(
    node.dispatch,
    'upsertMcp',
    { agent: 'crab', config: JSON.stringify(entry), verify: true },
    NEVER,
  )
  const { agents } = await viewAgents(node, '')
  assert.deepEqual(
    agents.map(({ agent, mode }) => [agent, mode]),
    [
      ['crab', 'only 1'],
      ['none', 'none'],
    ],
  )
  const hidden = agents[0]?.servers[0]?.tools.find(({ remoteName }) => remoteName === 'add')
  assert.deepEqual([hidden?.name, hidden?.effect], ['', PolicyEffect.UNSPECIFIED])
  assert.match(hidden?.hidden ?? '', /include/)
})

test('mcp_view reports how much memory a connection uses', async () => {
  await using node = await startObservedNode()
  const server = node.watch('one')
  await node.declare('crab', server)
  assert.deepEqual((await viewAgents(node, 'crab')).peers, [])
  await node.services.agentSync.syncAll()
  await node.pidOf(server)
  const [peer] = (await viewAgents(node, '')).peers
  assert.ok(peer!.memoryBytes! > 10_000_000 && peer!.memoryBytes! < 1_000_000_000, `${peer!.memoryBytes}`)
})

function viewAgents(node: TestDispatch, agent: string) {
  return request(node.dispatch, 'mcpView', { agent }, NEVER)
}

/** Returns the entry of the agent from its listing. */
async function readEntry(node: TestDispatch): Promise<string> {
  const { config } = await request(node.dispatch, 'getAgent', { name: 'crab' }, NEVER)
  return JSON.stringify(JSON.parse(config).mcps[0])
}
