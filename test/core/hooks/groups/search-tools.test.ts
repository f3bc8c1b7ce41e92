import assert from 'node:assert/strict'
import { test } from 'node:test'
import { searchTools } from '../../../../src/core/hooks/groups/search-tools.ts'
import { ToolCatalog } from '../../../../src/core/hooks/groups/tool-catalog.ts'
import type { ToolSpec } from '../../../../src/core/provider/types.ts'
import { READ, remoteSpec, remoteSpecs, toolGroup } from '../../../support/fake-tools.ts'

const TRACKER = [
  remoteSpec('hub', 'createIssue', 'Opens a ticket'),
  remoteSpec('hub', 'list_issues', 'Shows all of them'),
  remoteSpec('hub', 'merge', 'Merges a branch; closes its issue'),
  remoteSpec('mail', 'send', 'Sends a letter'),
]

test('searchTools() ranks names above descriptions, and tools with all words above the rest', () => {
  assert.deepEqual(found('issue'), ['mcp__hub__createIssue', 'mcp__hub__list_issues', 'mcp__hub__merge'])
  assert.deepEqual(found('create issue')[0], 'mcp__hub__createIssue')
  assert.deepEqual(found('letter'), ['mcp__mail__send'])
  assert.deepEqual(found('MERGE'), ['mcp__hub__merge'])
  assert.deepEqual(found('list_issues')[0], 'mcp__hub__list_issues')
})

test('searchTools() finds the tools of a server by its name, and built-in ones', () => {
  assert.deepEqual(found('mail'), ['mcp__mail__send'])
  assert.deepEqual(found('file'), ['read'])
})

test('searchTools() adds the groups of its matches, and marks tools that can be called already', () => {
  const { result } = search({ query: 'letter' }, { selected: ['mcp__mail__send'] })
  assert.deepEqual(result, {
    tools: [{ name: 'mcp__mail__send', description: 'Sends a letter', selected: true }],
    total_matches: 1,
    total_tools: 5,
    groups: [
      {
        id: 'mcp:mail',
        title: 'mail',
        description: 'About mail',
        instructions: 'Be brief.',
        members: ['mcp__mail__send'],
      },
    ],
  })
  assert.equal(search({ query: 'file' }).result.tools[0].selected, true)
  assert.equal(search({ query: 'merge' }).result.tools[0].selected, undefined)
})

test('searchTools() returns 20 matches by default, or the requested number up to 64', () => {
  const specs = remoteSpecs('web', 99)
  for (const [limit, count] of [
    [undefined, 20],
    [5, 5],
    ['7', 7],
    [1000, 64],
    [0, 20],
    ['many', 20],
  ] as const) {
    const { result } = search({ query: 'tool', ...(limit !== undefined && { limit }) }, { specs })
    assert.deepEqual([result.tools.length, result.total_matches], [count, 99])
  }
})

test('searchTools() returns all names, and only names, for *', () => {
  const { result } = search({ query: ' * ' })
  assert.deepEqual(result, { names: ['read', ...TRACKER.map(({ name }) => name)], total_tools: 5 })
})

test('searchTools() says when nothing matches, and rejects an empty search', () => {
  assert.match(search({ query: 'zebra' }).result.note, /^No tool has any of these words/)
  for (const args of [{}, { query: '  ' }, { query: 7 }])
    assert.throws(() => search(args), {
      kind: 'invalid',
      message: /query must be words, or \* for all names/,
    })
})

function found(query: string): string[] {
  return search({ query }).result.tools.map(({ name }: { name: string }) => name)
}

function search(
  args: Record<string, unknown>,
  { specs = TRACKER, selected = [] }: { specs?: readonly ToolSpec[]; selected?: readonly string[] } = {},
) {
  const groups = [toolGroup('hub', specs), toolGroup('mail', specs, { instructions: 'Be brief.' })]
  const catalog = new ToolCatalog([READ, ...specs], groups)
  return { result: JSON.parse(searchTools(args, { catalog, selection: { names: selected } }).output) }
}
