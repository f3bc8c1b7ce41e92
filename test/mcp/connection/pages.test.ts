import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listTools, readPages } from '../../../src/mcp/connection/pages.ts'

test('readPages() reads a thousand items of a page that has far more', async () => {
  const page = async () => ({
    items: Array.from({ length: 300_000 }, (_, id) => ({ id })),
    nextCursor: 'more',
  })
  const { items, isCut } = await readPages(page, 'items')
  assert.deepEqual([items.length, items.at(-1), isCut], [1_000, { id: 999 }, true])
})

test('listTools() reports what it omits from a page with too many tools', async () => {
  const tools = Array.from({ length: 2_001 }, (_, i) => ({ name: `t${i}`, inputSchema: { type: 'object' } }))
  const { tools: read, dropped } = await listTools(async () => ({ tools }))
  assert.deepEqual([read.length, dropped.map(({ name }) => name)], [2_000, ['further tools']])
})
