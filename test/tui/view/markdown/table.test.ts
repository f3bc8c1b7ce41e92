import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderMarkdown } from '../../../../src/tui/view/markdown/render.ts'
import { fitColumns } from '../../../../src/tui/view/markdown/table.ts'
import { makeView } from '../support.ts'

const TABLE = [
  '| Name | Size | What it is |',
  '|:--|--:|:-:|',
  '| 漢字 | 12 | a `short` text |',
  '| b | 3 | x |',
].join('\n')
const renderLines = (text: string, columns: number) => renderMarkdown(text, makeView({ columns }))

test('renderMarkdown() of a table aligns columns by their contents', () => {
  assert.deepEqual(renderLines(TABLE, 80), [
    'Name │ Size │   What it is',
    '─────┼──────┼───────────────',
    '漢字 │   12 │ a `short` text',
    'b    │    3 │       x',
  ])
})

test('renderMarkdown() of a table wraps cells where there is no room, and then draws lines between rows', () => {
  assert.deepEqual(renderLines(TABLE, 26), [
    'Name │ Size │  What it is',
    '─────┼──────┼─────────────',
    '漢字 │   12 │  a `short`',
    '     │      │     text',
    '─────┼──────┼─────────────',
    'b    │    3 │      x',
  ])
})

test('renderMarkdown() of a table shows rows one by one where columns would be too narrow', () => {
  assert.deepEqual(renderLines(TABLE, 18), [
    'Name: 漢字',
    'Size: 12',
    'What it is: a',
    '`short` text',
    '────────────',
    'Name: b',
    'Size: 3',
    'What it is: x',
  ])
})

test('renderMarkdown() of a table continues without a header in the second part of a long table', () => {
  const rows = Array.from({ length: 61 }, (_, i) => `| ${i} | x |`)
  const lines = renderLines(['| a | b |', '| - | - |', ...rows].join('\n'), 40)
  assert.equal(lines.length, 2 + 61)
  assert.deepEqual(lines.slice(-2), ['59 │ x', '60 │ x'])
})

test('fitColumns() leaves narrow columns what they need and shares the rest', () => {
  assert.deepEqual(fitColumns([['abc', 'x'.repeat(50), 'y'.repeat(50)]], 43), [3, 20, 20])
  assert.deepEqual(fitColumns([['abc', 'xyz']], 43), [3, 3])
  assert.equal(fitColumns([['x'.repeat(9), 'y'.repeat(9)]], 11), undefined)
})
