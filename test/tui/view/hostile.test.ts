import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderBlock } from '../../../src/tui/view/block.ts'
import type { OpenText } from '../../../src/tui/view/blocks.ts'
import { renderCalls, renderOpen } from '../../../src/tui/view/live.ts'
import { makeBlocks } from './blocks.ts'
import { HOSTILE_TEXTS } from './hostile-texts.ts'
import { assertPrintable, makeView, plain } from './support.ts'

const VIEWS = [10, 40, 200].flatMap((columns) => [
  makeView({ columns, color: true, details: true }),
  makeView({ columns, color: columns === 40 }),
  makeView({ columns, parse: undefined, highlight: undefined }),
])

for (const [name, text] of Object.entries(HOSTILE_TEXTS)) {
  test(`renderBlock() neutralizes harmful text in every part of every block: ${name}`, () => {
    for (const view of VIEWS) {
      for (const block of makeBlocks(text)) assertPrintable(renderBlock(block, view), view.columns)
    }
  })

  test(`renderOpen() and renderCalls() neutralize harmful text: ${name}`, () => {
    for (const view of VIEWS) {
      for (const kind of ['answer', 'thinking'] as const) {
        const open: OpenText = { kind, agent: text, text, hasClosedParts: false, carry: '' }
        const lines = renderOpen(open, view)
        assertPrintable(lines, view.columns)
        assert.ok(lines.length <= view.rows)
      }
      for (const block of makeBlocks(text)) {
        if (block.kind === 'tool') assertPrintable(renderCalls([block.tool], false, view), view.columns)
      }
    }
  })

  test(`renderBlock() shows the text around harmful characters: ${name}`, () => {
    const block = { kind: 'answer', agent: 'crab', text, isFirst: true, continues: false } as const
    const shown = plain(renderBlock(block, makeView({ columns: 80 }))).join('\n')
    assert.match(shown, /before/)
    assert.match(shown, /after/)
  })
}
