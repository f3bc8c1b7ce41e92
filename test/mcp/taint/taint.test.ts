import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import { CREDENTIALS } from '../../support/mcp/credentials.ts'
import { agentWith, type McpNode, mcpNode, offer, run } from '../mcp-node.ts'

const TOKEN = CREDENTIALS['a GitHub token']!
const NAME = 'mcp__misbehaving__echo'

describe('calls that would send a secret', { concurrency: 4 }, () => {
  test('are refused with its path, and nothing reaches the server', async () => {
    await using node = await mcpNode()
    const { agent, server } = await offerServer(node)
    await assert.rejects(run(node, agent, { name: NAME, args: { text: 'x', more: [{ note: TOKEN }] } })!, {
      kind: 'denied',
      message:
        'Cannot call echo of the MCP server "misbehaving": the argument more[0].note looks like a credential, so nothing was sent',
    })
    await assert.rejects(run(node, agent, { name: NAME, args: { text: 'x', api_key: 'hunter2' } })!, {
      message: /the argument api_key has the name of a secret/,
      hint: /taint_policy = "warn"/,
    })
    assert.deepEqual(server.messages('tools/call'), [])
    assert.equal((await run(node, agent, { name: NAME, args: { text: 'fine' } }))?.output, 'fine')
  })

  test('are sent with a notice if the entry allows it', async () => {
    await using node = await mcpNode()
    const { agent, server } = await offerServer(node, { taint_policy: 'warn' })
    const notices: string[] = []
    const notice = (message: string) => void notices.push(message)
    await run(node, agent, { name: NAME, args: { text: TOKEN }, notice })
    assert.equal(server.messages('tools/call').length, 1)
    assert.deepEqual(notices, [
      'The call of echo of the MCP server "misbehaving" is sent although the argument text looks like a credential',
    ])
  })

  for (const entry of [{ taint_policy: 'off' }, { taint_scanning: false }] as const) {
    test(`are not scanned with ${JSON.stringify(entry)}`, async () => {
      await using node = await mcpNode()
      const { agent, server } = await offerServer(node, entry)
      const notice = (message: string) => assert.fail(message)
      await run(node, agent, { name: NAME, args: { text: TOKEN, password: 'hunter2' }, notice })
      assert.equal(server.messages('tools/call').length, 1)
    })
  }

  test('are sent with the depth of their turn, if it has one', async () => {
    await using node = await mcpNode()
    const { agent, server } = await offerServer(node)
    await run(node, agent, { name: NAME, args: { text: 'x' }, env: { CRABTALK_MCP_DEPTH: '3' } })
    await run(node, agent, { name: NAME, args: { text: 'x' } })
    const metas = server.messages('tools/call').map(({ params }) => params?.['_meta'] as object)
    assert.equal((metas[0] as Record<string, unknown>)['crabtalk/depth'], 3)
    assert.ok(!('crabtalk/depth' in (metas[1] ?? {})))
  })
})

async function offerServer(node: McpNode, more: Partial<McpEntry> = {}) {
  const server = node.watch()
  const agent = agentWith([{ ...server.entry, ...more } as McpEntry])
  await offer(node, agent)
  return { agent, server }
}
