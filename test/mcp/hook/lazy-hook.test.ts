import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lazyMcpHook } from '../../../src/mcp/hook/lazy-hook.ts'
import { agentWith, mcpNode, NEVER } from '../mcp-node.ts'

const TURN = { emit() {}, signal: NEVER }

test('lazyMcpHook() opens nothing for agents without servers', async () => {
  const hook = lazyMcpHook(() => assert.fail('opened'))
  const agent = agentWith([])
  await hook.onRegisterAgent!(agent)
  assert.deepEqual(await hook.schema!(agent, TURN), [])
  assert.equal(hook.describe!('mcp__fs__x', { agent, args: {}, cwd: '/' }), undefined)
  assert.equal(hook.dispatch!('mcp__fs__x', {} as never, NEVER), undefined)
  await hook.onUnregisterAgent!(agent)
})

test('lazyMcpHook() opens the servers once, and then delegates to their hook', async () => {
  await using node = await mcpNode()
  let opened = 0
  const hook = lazyMcpHook(async () => {
    opened++
    return node.servers
  })
  const server = node.watch({ tools: ['few'] })
  const agent = agentWith([server.entry])
  await Promise.all([hook.onRegisterAgent!(agent), hook.onRegisterAgent!(agent)])
  const tools = await hook.schema!(agent, TURN)
  assert.equal(tools.length, 2)
  const action = await hook.describe!('mcp__misbehaving__echo', { agent, args: { text: 'x' }, cwd: '/' })
  assert.equal(action?.kind, 'mcp')
  await hook.onRegisterAgent!({ ...agent, mcps: [] })
  assert.deepEqual(node.servers.peers(), [])
  assert.equal(opened, 1)
})

test('lazyMcpHook() tries again when the servers could not be opened', async () => {
  await using node = await mcpNode()
  let opened = 0
  const hook = lazyMcpHook(async () => {
    opened++
    if (opened === 1) throw new Error('no')
    return node.servers
  })
  const agent = agentWith([{ name: 'web', url: 'http://127.0.0.1:9', start: 'lazy' }])
  await assert.rejects(async () => hook.onRegisterAgent!(agent))
  await hook.onRegisterAgent!(agent)
  assert.equal(node.servers.peers().length, 1)
})
