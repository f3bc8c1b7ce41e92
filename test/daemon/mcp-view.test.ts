import assert from 'node:assert/strict'
import { test } from 'node:test'
import { McpPeerState, PolicyEffect } from '../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import { startKeptNode } from '../support/kept-node.ts'
import { startMcpNode } from '../support/mcp/mcp-node.ts'
import { entriesToml, watchedServer } from '../support/mcp/mcp-servers.ts'
import { recordFolder } from '../support/mcp/record-folder.ts'
import type { TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const ID = '01JZZZZZZZZZZZZZZZZZZZZZZZ'
const RULES = 'permissions = { allow = ["e*"], deny = ["*secret*"] }\n'

test('mcp_view says what an agent declares, where that is written, and starts nothing', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, { tools: ['few'] }, { name: 'one', env: { TOKEN: 'hunter2' } })
  await node.home.write('agents/crab.toml', `id = "${ID}"\n\n${entriesToml(server.entry)}`)
  const view = await viewOf(node, 'crab')
  const [agent] = view.agents
  assert.deepEqual([agent?.agent, agent?.mode], ['crab', 'all'])
  assert.deepEqual(
    agent?.servers.map(({ name, source, state, tools }) => [name, source, state, tools]),
    [['one', 'agents/crab.toml:3', McpPeerState.IDLE, []]],
  )
  assert.deepEqual(server.starts(), [])
  assert.doesNotMatch(JSON.stringify(view), /hunter2/)
})

test('mcp_view says of each tool that was listed what the rules of config, agent and entry make of it', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([], { config: '\n[permissions]\nask = ["mcp__one__add"]\n' })
  const server = watchedServer(records.path, { tools: ['few'] }, { name: 'one' })
  await node.home.write('agents/crab.toml', `id = "${ID}"\n\n${entriesToml(server.entry)}${RULES}`)
  await request(
    node.dispatch,
    'upsertMcp',
    { agent: 'crab', config: await entryOf(node), verify: true },
    NEVER,
  )
  const [shown] = (await viewOf(node, 'crab')).agents[0]!.servers
  assert.deepEqual(
    shown?.tools.map(({ remoteName, name, effect, rule }) => [
      remoteName,
      name,
      effect,
      rule?.pattern,
      rule?.source,
    ]),
    [
      ['echo', 'mcp__one__echo', PolicyEffect.ALLOW, 'mcp__one__e*', shown?.tools[0]?.rule?.source],
      ['add', 'mcp__one__add', PolicyEffect.ASK, 'mcp__one__add', shown?.tools[1]?.rule?.source],
    ],
  )
  assert.match(shown?.tools[0]?.rule?.source ?? '', /^agents\/crab\.toml/)
  assert.match(shown?.tools[1]?.rule?.source ?? '', /^config\.toml:\d+$/)
  assert.equal(server.starts().length, 1)
})

test('mcp_view says in words which tools there are, and why one is hidden', async () => {
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
  const { agents } = await viewOf(node, '')
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

test('mcp_view says how much memory a connection takes', async () => {
  await using node = await startKeptNode()
  const server = node.watch('one')
  await node.declare('crab', server)
  assert.deepEqual((await viewOf(node, 'crab')).peers, [])
  await node.services.agentSync.syncAll()
  await node.pidOf(server)
  const [peer] = (await viewOf(node, '')).peers
  assert.ok(peer!.memoryBytes! > 10_000_000 && peer!.memoryBytes! < 1_000_000_000, `${peer!.memoryBytes}`)
})

function viewOf(node: TestDispatch, agent: string) {
  return request(node.dispatch, 'mcpView', { agent }, NEVER)
}

/** The entry of the agent as its listing gives it. */
async function entryOf(node: TestDispatch): Promise<string> {
  const { config } = await request(node.dispatch, 'getAgent', { name: 'crab' }, NEVER)
  return JSON.stringify(JSON.parse(config).mcps[0])
}
