import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentConfig } from '../../../src/core/config/agent-schema.ts'
import { until } from '../../support/until.ts'
import { agentWith, type McpNode, mcpNode, offer, run } from '../mcp-node.ts'

test('the tool list of an agent is built once for a hundred turns, and is identical for each', async () => {
  await using node = await mcpNode()
  const agent = agentWith([node.watch({ tools: ['good'] }).entry])
  const { tools: first } = await offer(node, agent)
  for (let turn = 1; turn < 100; turn++) {
    const { tools } = await offer(node, { ...agent }) // each turn has its own copy
    assert.equal(tools, first)
  }
  assert.equal(countBuilds(node, agent), 1)
})

test('a changed list is rebuilt once, for any number of notifications and turns', async () => {
  await using node = await mcpNode()
  const agent = agentWith([node.watch({ tools: ['good'] }).entry])
  await offer(node, agent)
  const { generation } = node.servers.view(agent)
  await run(node, agent, { name: 'mcp__misbehaving__change', args: { add: ['fresh'], times: 20 } })
  await until('the list is read again', () => node.servers.view(agent).generation > generation)
  for (let turn = 0; turn < 5; turn++)
    assert.ok((await offer(node, agent)).names.includes('mcp__misbehaving__fresh'))
  assert.equal(countBuilds(node, agent), 2)
})

test('an edit of declarations or a filter rebuilds the list once; other edits do not', async () => {
  await using node = await mcpNode()
  const { entry } = node.watch({ tools: ['few'] })
  const agent = agentWith([entry])
  const edits: readonly [AgentConfig, string[], number][] = [
    [agent, ['echo', 'add'], 1],
    [{ ...agent, prompt: 'Be brief.', model: 'other' }, ['echo', 'add'], 1],
    [{ ...agent, mcps: [{ ...agent.mcps[0]!, exclude: ['add'] }] }, ['echo'], 2],
    [{ ...agent, tools: ['mcp__misbehaving__add'] }, ['add'], 3],
    [{ ...agent, tools: ['mcp__misbehaving__add', 'read'] }, ['add'], 4],
    [agent, ['echo', 'add'], 5],
  ]
  for (const [edited, tools, builds] of edits) {
    await node.servers.hook.onRegisterAgent!(edited)
    for (let turn = 0; turn < 3; turn++) {
      const { names } = await offer(node, edited)
      assert.deepEqual(names.toSorted(), tools.map((tool) => `mcp__misbehaving__${tool}`).toSorted())
    }
    assert.equal(countBuilds(node, edited), builds)
  }
})

test('each agent has its own list, which is removed with the agent', async () => {
  await using node = await mcpNode()
  const { entry } = node.watch({ tools: ['few'] })
  const [ann, bob] = [agentWith([entry]), agentWith([{ ...entry, name: 'other' }])]
  await offer(node, ann)
  assert.deepEqual([countBuilds(node, ann), countBuilds(node, bob)], [1, 0])
  assert.deepEqual((await offer(node, bob)).names, ['mcp__other__add', 'mcp__other__echo'])
  assert.deepEqual([countBuilds(node, ann), countBuilds(node, bob)], [1, 1])
  await node.servers.hook.onUnregisterAgent!(bob)
  assert.deepEqual([countBuilds(node, ann), countBuilds(node, bob)], [1, 0])
})

function countBuilds(node: McpNode, agent: AgentConfig): number {
  return node.servers.view(agent).toolLists
}
