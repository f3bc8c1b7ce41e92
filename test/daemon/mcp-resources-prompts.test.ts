import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type McpAction, McpActionKind } from '../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import { startMcpNode } from '../support/mcp/mcp-node.ts'
import { askingEntry, entriesToml } from '../support/mcp/mcp-servers.ts'

const NEVER = new AbortController().signal
const { RESOURCES, READ_RESOURCE, PROMPTS, GET_PROMPT } = McpActionKind

async function docsNode() {
  const node = await startMcpNode([])
  await node.home.write(
    'agents/crab.toml',
    `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n\n${entriesToml(askingEntry())}`,
  )
  const act = (action: McpActionKind, more: Partial<McpAction> = {}) =>
    request(node.dispatch, 'mcpAction', { name: 'docs', action, ...more }, NEVER)
  return { node, act }
}

test('mcp_action lists resources and templates, and reads them without their frame', async () => {
  const { node, act } = await docsNode()
  await using _node = node
  const { resources, resourceTemplates } = await act(RESOURCES)
  assert.deepEqual(
    resources.map(({ uri }) => uri),
    ['docs://readme', 'docs://pixel', 'docs://long'],
  )
  assert.deepEqual(
    resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ['docs://page/{number}'],
  )
  assert.equal((await act(READ_RESOURCE, { uri: 'docs://long' })).output.length, 10_000)
  const { attachments } = await act(READ_RESOURCE, { uri: 'docs://pixel' })
  assert.equal(Buffer.from(attachments[0]!.data).subarray(1, 4).toString(), 'PNG')
  await assert.rejects(act(READ_RESOURCE), { kind: 'invalid' })
  const entries = await readdir(join(node.home.paths.cache, 'output', 'mcp')).catch(() => [])
  assert.deepEqual(entries, [])
})

test('mcp_action reads no resource that a rule denies', async () => {
  const { node, act } = await docsNode()
  await using _node = node
  const text = await node.home.read('agents/crab.toml')
  await node.home.write('agents/crab.toml', `${text}permissions = { deny = ["resources/*"] }\n`)
  await assert.rejects(act(READ_RESOURCE, { uri: 'docs://readme' }), {
    kind: 'denied',
    message: /^Cannot read resources of "docs": /,
    hint: /^change the rule mcp__docs__/,
  })
})

test('mcp_action lists prompts, and renders them with string arguments only', async () => {
  const { node, act } = await docsNode()
  await using _node = node
  const { prompts } = await act(PROMPTS)
  assert.deepEqual(prompts[0]?.arguments[0], { name: 'path', description: 'What to look at', required: true })
  const { promptMessages } = await act(GET_PROMPT, { tool: 'review', arguments: '{"path":"a.ts"}' })
  assert.deepEqual(promptMessages, [
    { role: 'user', content: 'Review a.ts in a kind way, see @secret.txt', attachments: [] },
  ])
  for (const text of ['{"path":7}', '[]', 'no JSON'])
    await assert.rejects(act(GET_PROMPT, { tool: 'review', arguments: text }), { kind: 'invalid' })
})

test('mcp_view counts neither listings nor the reading of resources and prompts as calls', async () => {
  const { node, act } = await docsNode()
  await using _node = node
  await act(RESOURCES)
  await act(PROMPTS)
  await act(READ_RESOURCE, { uri: 'docs://readme' })
  const { peers } = await request(node.dispatch, 'mcpView', {}, NEVER)
  assert.deepEqual(
    peers.map(({ calls, errors }) => ({ calls, errors })),
    [{ calls: 0, errors: 0 }],
  )
})
