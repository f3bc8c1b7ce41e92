import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../src/core/base/errors.ts'
import { McpActionKind, McpStatus } from '../../src/core/protocol/crabtalk.generated.ts'
import { request, route } from '../../src/core/protocol/dispatch.ts'
import { KnownAgents } from '../../src/core/runtime/known-agents.ts'
import { AgentSync } from '../../src/daemon/agent-sync.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { startKeptNode } from '../support/kept-node.ts'
import type { WatchedServer } from '../support/mcp/mcp-servers.ts'
import { isRunning } from '../support/mcp/record-folder.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal

test('all agents are known from the beginning, and none waits for the server of another', async () => {
  await using node = await startKeptNode()
  const [good, stuck] = [node.watch('good'), node.watch('stuck', { at: { initialize: 'hang' } })]
  await node.declare('slow', stuck)
  await node.declare('quick', good)
  await node.home.write('agents/broken.toml', 'no = [toml')
  await node.services.agentSync.syncAll()
  await node.pidOf(good)
  assert.deepEqual(
    node.logged.map((line) => line.replace(/:\d+:.*/s, '')),
    ['warn agents/broken.toml'],
  )
})

test('a change to an agent reaches its servers at once', async () => {
  await using node = await startKeptNode()
  const [one, two, three] = [node.watch('one'), node.watch('two'), node.watch('three')]
  await node.declare('crab', one)
  await node.services.agentSync.syncAll()
  const pid = await node.pidOf(one)

  const add = { agent: 'crab', config: JSON.stringify(two.entry) }
  await request(node.dispatch, 'upsertMcp', add, NEVER)
  await node.pidOf(two)
  await request(
    node.dispatch,
    'mcpAction',
    { agent: 'crab', name: 'two', action: McpActionKind.DISABLE },
    NEVER,
  )
  await ended(two)
  const all = { agent: 'crab', configs: [one.entry, three.entry].map((entry) => JSON.stringify(entry)) }
  await request(node.dispatch, 'replaceMcps', all, NEVER)
  await node.pidOf(three)
  await request(node.dispatch, 'deleteMcp', { agent: 'crab', name: 'three' }, NEVER)
  await ended(three)
  assert.deepEqual([one.starts(), two.starts().length, three.starts().length], [[pid], 1, 1])
  assert.ok(isRunning(pid))
})

test('update_agent and create_agent start what they declare', async () => {
  await using node = await startKeptNode()
  const [one, two] = [node.watch('one'), node.watch('two')]
  await node.services.agentSync.syncAll()
  const config = (server: WatchedServer) => JSON.stringify({ mcps: [server.entry] })
  await request(node.dispatch, 'createAgent', { name: 'new', config: config(one), prompt: '' }, NEVER)
  await node.pidOf(one)
  await request(node.dispatch, 'updateAgent', { name: 'new', config: config(two), prompt: '' }, NEVER)
  await node.pidOf(two)
  await ended(one)
})

test('a rename moves the servers of an agent, and starts and ends none', async () => {
  await using node = await startKeptNode()
  const server = node.watch('one')
  await node.declare('old', server)
  const leave = new AbortController()
  const kinds: string[] = []
  const events = node.services.mcpEvents.listen(leave.signal)
  await node.services.agentSync.syncAll()
  const pid = await node.pidOf(server)
  await request(node.dispatch, 'renameAgent', { oldName: 'old', newName: 'new' }, NEVER)
  const [peer] = await node.peers()
  assert.deepEqual([peer?.owners, peer?.pid], [[{ agent: 'new', name: 'one' }], pid])
  for await (const { kind, agent } of events) {
    kinds.push(`${agent} ${kind}`)
    if (agent === 'new') break
  }
  assert.deepEqual(kinds, ['old connecting', 'old connected', 'new connected'])
  assert.deepEqual(server.starts(), [pid])
})

test('the servers of an agent that is deleted end', async () => {
  await using node = await startKeptNode()
  const server = node.watch('one')
  await node.declare('old', server)
  await node.services.agentSync.syncAll()
  await node.pidOf(server)
  await request(node.dispatch, 'deleteAgent', { name: 'old' }, NEVER)
  await ended(server)
  assert.deepEqual(await node.peers(), [])
})

test('a server that was verified before it was written is the one that runs then', async () => {
  await using node = await startKeptNode()
  const server = node.watch('one')
  await node.declare('crab')
  await node.services.agentSync.syncAll()
  const add = { agent: 'crab', config: JSON.stringify(server.entry), verify: true }
  const { status } = await request(node.dispatch, 'upsertMcp', add, NEVER)
  const pid = await node.pidOf(server)
  const tools = { agent: 'crab', name: 'one', action: McpActionKind.TOOLS }
  await request(node.dispatch, 'mcpAction', tools, NEVER)
  assert.deepEqual([server.starts(), status], [[pid], McpStatus.CONNECTED])
})

test('a change whose servers cannot be told of it is taken back, and what was verified ends', async () => {
  await using node = await startKeptNode()
  const [one, two] = [node.watch('one'), node.watch('two')]
  await node.declare('crab', one)
  const declared = async () => (await node.services.agents.get('crab')).mcps
  const before = await declared()
  const { agents, node: place } = node.services
  const broken = { onRegisterAgent: () => Promise.reject(new CrabError('storage', 'the disk is full')) }
  const agentSync = new AgentSync({ agents, hook: {}, known: new KnownAgents(broken), log: place.log })
  await agentSync.syncAll()
  const dispatch = route(handlers({ ...node.services, agentSync }, 'process'))
  const add = { agent: 'crab', config: JSON.stringify(two.entry), verify: true }
  await assert.rejects(request(dispatch, 'upsertMcp', add, NEVER), { kind: 'storage' })
  await assert.rejects(request(dispatch, 'deleteMcp', { agent: 'crab', name: 'one' }, NEVER), {
    kind: 'storage',
  })
  assert.deepEqual(await declared(), before)
  await ended(two)
  assert.deepEqual([two.starts().length, one.starts(), await node.peers()], [1, [], []])
})

test('a process that keeps no agents starts nothing for a change', async () => {
  await using node = await startKeptNode()
  const server = node.watch('one')
  const add = { agent: 'crab', config: JSON.stringify(server.entry) }
  await request(node.dispatch, 'upsertMcp', add, NEVER)
  assert.deepEqual([server.starts(), await node.peers()], [[], []])
})

async function ended({ entry, starts }: WatchedServer): Promise<void> {
  await until(`${entry.name} has ended`, () => !starts().some(isRunning))
}
