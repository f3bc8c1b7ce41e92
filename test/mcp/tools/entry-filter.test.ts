import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import { hiddenBy } from '../../../src/mcp/tools/entry-filter.ts'

const TOOLS = ['read_file', 'write_file', 'read/dir', 'list']

const CASES: [string, Partial<McpEntry>, string[]][] = [
  ['nothing', {}, TOOLS],
  ['an empty include', { include: [] }, TOOLS],
  ['a name to include', { include: ['list'] }, ['list']],
  ['a star', { include: ['read*'] }, ['read_file', 'read/dir']],
  ['a star in the middle', { include: ['*_f*e'] }, ['read_file', 'write_file']],
  ['a name to exclude', { exclude: ['list'] }, ['read_file', 'write_file', 'read/dir']],
  ['both, exclude winning', { include: ['*_file'], exclude: ['write*'] }, ['read_file']],
  ['a part of a name', { include: ['read'] }, []],
  ['a regular expression', { include: ['read.file', 'l[i]st'] }, []],
]
for (const [what, filter, left] of CASES) {
  test(`hiddenBy() with ${what} leaves ${left.join(', ') || 'nothing'}`, () => {
    const entry = { name: 's', command: 'c', ...filter }
    assert.deepEqual(
      TOOLS.filter((tool) => hiddenBy(entry, tool) === ''),
      left,
    )
  })
}

test('hiddenBy() says what hides a tool', () => {
  const entry = { name: 's', command: 'c', include: ['a'], exclude: ['b*'] }
  assert.equal(hiddenBy(entry, 'bc'), 'exclude has b*')
  assert.equal(hiddenBy(entry, 'c'), 'include does not have it')
})
