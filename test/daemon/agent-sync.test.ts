import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../src/core/base/errors.ts'
import { McpActionKind, McpStatus } from '../../src/core/protocol/crabtalk.generated.ts'
import { request, route } from '../../src/core/protocol/dispatch.ts'
import { KnownAgents } from '../../src/core/runtime/known-agents.ts'
import { AgentSync } from '../../src/daemon/agent-sync.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { WatchedServer } from '../support/mcp/mcp-servers.ts'
import { isRunning } from '../support/mcp/record-folder.ts'
import { startObservedNode } from '../support/observed-node.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal

test("all agents are known from the start, and none waits for another agent's server", async () => {
  await using node = await startObservedNode()
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

test('a change to an agent reaches its servers immediately', async () => {
  await using node = await startObservedNode()
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
  await waitForEnd(two)
  const all = { agent: 'crab', configs: [one.entry, three.entry].map((entry) => JSON.stringify(entry)) }
  await request(node.dispatch, 'replaceMcps', all, NEVER)
  await node.pidOf(three)
  await request(node.dispatch, 'deleteMcp', { agent: 'crab', name: 'three' }, NEVER)
  await waitForEnd(three)
  assert.deepEqual([one.starts(), two.starts().length, three.starts().length], [[pid], 1, 1])
  assert.ok(isRunning(pid))
})

test('update_agent and create_agent start the servers they declare', async () => {
  await using node = await startObservedNode()
  const [one, two] = [node.watch('one'), node.watch('two')]
  await node.services.agentSync.syncAll()
  const toConfig = (server: WatchedServer) => JSON.stringify({ mcps: [server.entry] })
  await request(node.dispatch, 'createAgent', { name: 'new', config: toConfig(one), prompt: '' }, NEVER)
  await node.pidOf(one)
  await request(node.dispatch, 'updateAgent', { name: 'new', config: toConfig(two), prompt: '' }, NEVER)
  await node.pidOf(two)
  await waitForEnd(one)
})

test('renaming an agent moves its servers without starting or stopping one', async () => {
  await using node = await startObservedNode()
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
  assert.deepEqual(kinds, ['old connecting', 'old connected', 'old disconnected', 'new connected'])
  assert.deepEqual(server.starts(), [pid])
})

test('deleting an agent stops its servers', async () => {
  await using node = await startObservedNode()
  const server = node.watch('one')
  await node.declare('old', server)
  await node.services.agentSync.syncAll()
  await node.pidOf(server)
  await request(node.dispatch, 'deleteAgent', { name: 'old' }, NEVER)
  await waitForEnd(server)
  assert.deepEqual(await node.peers(), [])
})

test('a server that was verified before it was written keeps running', async () => {
  await using node = await startObservedNode()
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

test('a change that cannot be passed to the servers is rolled back, and the verified server stops', async () => {
  await using node = await startObservedNode()
  const [one, two] = [node.watch('one'), node.watch('two')]
  await node.declare('crab', one)
  const readEntries = async () => (await node.services.agents.get('crab')).mcps
  const before = await readEntries()
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
  assert.deepEqual(await readEntries(), before)
  await waitForEnd(two)
  assert.deepEqual([two.starts().length, one.starts(), await node.peers()], [1, [], []])
})

test('a change in a process that does not sync agents starts nothing', async () => {
  await using node = await startObservedNode()
  const server = node.watch('one')
  const add = { agent: 'crab', config: JSON.stringify(server.entry) }
  await request(node.dispatch, 'upsertMcp', add, NEVER)
  assert.deepEqual([server.starts(), await node.peers()], [[], []])
})

async function waitForEnd({ entry, starts }: WatchedServer): Promise<void> {
  await until(`${entry.name} has ended`, () => !starts().some(isRunning))
}
