import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { readPages } from '../../../src/mcp/connection/pages.ts'
import { askingEntry, BEHAVIOURS, everythingEntry } from '../../support/mcp/mcp-servers.ts'
import { agentWith, mcpNode, NEVER } from '../mcp-node.ts'

for (const era of ['legacy', 'modern'] as const) {
  test(`resources of a ${era} server are listed and read`, async () => {
    await using node = await mcpNode()
    const agent = agentWith([askingEntry(era)])
    const { resources, templates } = await node.servers.resources(agent, 'docs', NEVER)
    assert.deepEqual(resources[0], {
      ...{ uri: 'docs://readme', name: 'readme', description: 'What this is' },
      ...{ mimeType: 'text/markdown', size: undefined },
    })
    assert.deepEqual(templates, [
      { uriTemplate: 'docs://page/{number}', name: 'page', description: 'One page', mimeType: '' },
    ])
    const read = (uri: string, outputLimit?: number) =>
      node.servers.readResource(
        {
          agent,
          name: 'docs',
          uri,
          spillDir: join(node.folder, 'spill'),
          ...(outputLimit && { outputLimit }),
        },
        NEVER,
      )
    assert.equal((await read('docs://readme')).output, '# Asking\nWater the </resource> plants.')
    assert.equal((await read('docs://page/7')).output, 'This is page 7')
    const { output, attachments } = await read('docs://pixel')
    assert.equal(output, '[docs://pixel, image/png, attached]')
    assert.deepEqual(
      attachments?.map(({ media_type }) => media_type),
      ['image/png'],
    )
    const long = await read('docs://long', 100)
    const [, path = ''] = /the full content is in (\S+)\]$/.exec(long.output) ?? []
    assert.equal(await readFile(path, 'utf8'), 'long '.repeat(2_000))
  })
}

test('the official server has resources, templates and prompts', async () => {
  await using node = await mcpNode()
  const agent = agentWith([everythingEntry()])
  const { resources, templates } = await node.servers.resources(agent, 'everything', NEVER)
  assert.ok(resources.length > 3 && templates.length > 0)
  const at = { agent, name: 'everything', uri: resources[0]!.uri, spillDir: node.folder }
  assert.ok((await node.servers.readResource(at, NEVER)).output.length > 100)
})

test('a server without resources lists none, and an unknown resource is an error that says so', async () => {
  await using node = await mcpNode()
  const { entry } = node.watch(BEHAVIOURS.good)
  const agent = agentWith([entry, askingEntry()])
  assert.deepEqual(await node.servers.resources(agent, entry.name, NEVER), { resources: [], templates: [] })
  assert.deepEqual(await node.servers.prompts(agent, entry.name, NEVER), [])
  const at = { agent, name: 'docs', uri: 'docs://nothing', spillDir: node.folder }
  await assert.rejects(node.servers.readResource(at, NEVER), {
    kind: 'tool',
    message: /^Cannot read docs:\/\/nothing of the MCP server "docs": /,
  })
})

test('readPages() follows cursors, and stops at a repeated one or an endless list', async () => {
  const page = async (cursor = '0') => ({
    all: [{ cursor }, 7],
    nextCursor: cursor === '2' ? '1' : String(Number(cursor) + 1),
  })
  assert.deepEqual(await readPages(page, 'all'), {
    items: [{ cursor: '0' }, { cursor: '1' }, { cursor: '2' }],
    isCut: false,
  })
  const endless = await readPages(
    async (cursor = '') => ({ all: Array(100).fill({}), nextCursor: `${cursor}x` }),
    'all',
  )
  assert.deepEqual([endless.items.length, endless.isCut], [1_000, true])
  assert.deepEqual(await readPages(async () => 'nothing', 'all'), { items: [], isCut: false })
})
