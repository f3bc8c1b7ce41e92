import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askingEntry } from '../../support/mcp/mcp-servers.ts'
import { agentWith, type McpNode, mcpNode, NEVER } from '../mcp-node.ts'

function prompting(node: McpNode, era: 'legacy' | 'modern') {
  const agent = agentWith([askingEntry(era)])
  const get = (prompt: string, args: Record<string, string> = {}) =>
    node.servers.getPrompt({ agent, name: 'docs', prompt, args, spillDir: node.folder }, NEVER)
  return { agent, get }
}

for (const era of ['legacy', 'modern'] as const) {
  test(`prompts of a ${era} server are listed and rendered`, async () => {
    await using node = await mcpNode()
    const { agent, get } = prompting(node, era)
    assert.deepEqual((await node.servers.prompts(agent, 'docs', NEVER))[0], {
      ...{ name: 'review', description: 'Review a file' },
      arguments: [
        { name: 'path', description: 'What to look at', isRequired: true },
        { name: 'tone', description: '', isRequired: false },
      ],
    })
    const [message] = await get('review', { path: 'a.ts' })
    assert.deepEqual(message, {
      role: 'user',
      content: 'Review a.ts in a kind way, see @secret.txt',
      attachments: [],
    })
    assert.deepEqual(
      (await get('hello')).map(({ role }) => role),
      ['user', 'assistant', 'user'],
    )
  })
}

test('an unknown prompt or wrong prompt arguments are rejected before the server is asked', async () => {
  await using node = await mcpNode()
  const { get } = prompting(node, 'modern')
  await assert.rejects(get('reviw'), { kind: 'missing', hint: /review/ })
  await assert.rejects(get('review'), { kind: 'invalid', message: /: path is missing$/ })
  await assert.rejects(get('review', { path: 'a', mood: 'b' }), {
    kind: 'invalid',
    hint: 'its arguments are path, tone',
  })
})
