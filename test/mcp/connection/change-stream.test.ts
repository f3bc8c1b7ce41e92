import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startModern } from '../../support/mcp/http/official-servers.ts'
import { until } from '../../support/until.ts'
import { agentWith, mcpNode, offer } from '../mcp-node.ts'

test('a broken change stream of an MCP 2026-07-28 server is reopened, and missed changes are fetched', async () => {
  await using server = await startModern()
  await using node = await mcpNode()
  const agent = agentWith([{ name: 'far', url: server.url }])
  assert.deepEqual((await offer(node, agent)).names, ['mcp__far__echo', 'mcp__far__wait'])
  await server.restart()
  server.addTool('missed')
  await until('what was missed is known', async () =>
    (await offer(node, agent)).names.includes('mcp__far__missed'),
  )
  server.addTool('heard')
  await until('the next change is heard', async () =>
    (await offer(node, agent)).names.includes('mcp__far__heard'),
  )
  assert.equal(node.servers.peers()[0]!.starts, 1)
})
