import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { renderBlock } from '../../../src/tui/view/block.ts'
import type { OpenText } from '../../../src/tui/view/blocks.ts'
import { renderCalls, renderOpen } from '../../../src/tui/view/live.ts'
import { splitClosed } from '../../../src/tui/view/markdown/split.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { makeTool } from './blocks.ts'
import { DOCUMENT } from './markdown-documents.ts'
import { assertPrintable, makeView } from './support.ts'

const view = makeView({ columns: 40, rows: 10 })
const open = (text: string, more: Partial<OpenText> = {}): OpenText => ({
  kind: 'answer',
  agent: 'crab',
  text,
  hasClosedParts: false,
  carry: '',
  ...more,
})

test('renderOpen() shows the last lines of an open block, never more than the terminal has', () => {
  fc.assert(
    fc.property(DOCUMENT, fc.nat(), (document, at) => {
      const rest = splitClosed({ text: document.slice(0, at % (document.length + 1)), carry: '' }, false)
      const lines = renderOpen(open(rest.text, { carry: rest.carry }), view)
      assertPrintable(lines, view.columns)
      assert.ok(lines.length <= view.rows)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('renderOpen() shows the block as it will look when it is closed', () => {
  for (const text of ['a **b**', '- a\n  - b', '# h', '> q', '| a |\n| - |\n| b |', '```js\nx']) {
    const [part] = splitClosed({ text, carry: '' }, true).closed
    const block = { kind: 'answer', agent: 'crab', isFirst: true, ...part! } as const
    assert.deepEqual(renderOpen(open(text), view), renderBlock(block, view))
  }
})

test('renderOpen() continues code and tables without their start', () => {
  assert.deepEqual(renderOpen(open('b()\n', { carry: 'f```js', hasClosedParts: true }), view), ['b()'])
  assert.deepEqual(
    renderOpen(open('| c | d |', { carry: 't| a | b |\n|-|-|', hasClosedParts: true }), view),
    ['c │ d'],
  )
})

test('renderOpen() shows the start of thinking on one line', () => {
  assert.deepEqual(renderOpen(open('one\ntwo', { kind: 'thinking' }), view), ['', 'Thought: one'])
})

test("renderCalls() shows the last lines of a running call's progress", () => {
  const tool = makeTool({ state: 'running', arguments: '{"command":"make"}', progress: 'a\nb\nc\nd\n' })
  assert.deepEqual(renderCalls([tool], false, view), ['', '○ Run make', '  b', '  c', '  d'])
  assert.deepEqual(renderCalls([tool], true, view), ['○ Run make', '  b', '  c', '  d'])
})

test('renderCalls() folds finished reads above those that are running', () => {
  const read = (path: string, state: 'done' | 'running') =>
    makeTool({ name: 'read', arguments: JSON.stringify({ path }), state, output: 'one' })
  const [a, b, c] = [read('a.ts', 'done'), read('b.ts', 'done'), read('c.ts', 'running')]
  assert.deepEqual(renderCalls([a, b, c], false, view), ['', '✓ Read 2 files  a.ts, b.ts', '○ Read c.ts'])
  assert.deepEqual(renderCalls([a, b], true, view), ['✓ Read 2 files  a.ts, b.ts'])
  assert.deepEqual(renderCalls([], true, view), [])
})
