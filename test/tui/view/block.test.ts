import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { renderBlock } from '../../../src/tui/view/block.ts'
import type { Block } from '../../../src/tui/view/blocks.ts'
import { splitClosed } from '../../../src/tui/view/markdown/split.ts'
import type { RenderContext } from '../../../src/tui/view/view.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { makeBlocks } from './blocks.ts'
import { cutAt, DOCUMENT } from './markdown-documents.ts'
import { assertPrintable, makeView } from './support.ts'

const renderLines = (block: Block, view: Partial<RenderContext> = {}) =>
  renderBlock(block, makeView({ columns: 30, ...view }))

test('renderBlock() makes printable lines of every block, with any content', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({ unit: 'grapheme', maxLength: 60 }),
  )
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 100 }), fc.boolean(), (text, columns, color) => {
      const view = makeView({ columns, color, details: color })
      for (const block of makeBlocks(text)) assertPrintable(renderBlock(block, view), columns)
    }),
    { numRuns: propertyRuns(300, 20) },
  )
})

test('renderBlock() shows a welcome of six lines at most', () => {
  const block: Block = {
    kind: 'welcome',
    agent: 'crab',
    model: 'big-model',
    cwd: '~/src',
    version: '1.2.3',
    hint: 'word '.repeat(30),
  }
  const lines = renderLines(block)
  assert.deepEqual(lines.slice(0, 3), ['crabtalk 1.2.3', 'crab · big-model', '~/src'])
  assert.equal(lines.length, 5)
  assert.deepEqual(renderLines({ ...block, model: '', hint: '' }), ['crabtalk 1.2.3', 'crab', '~/src'])
})

test('"renderBlock() puts a mark before every line of a user\'s message"', () => {
  const lines = renderLines({
    kind: 'user',
    text: 'one two three four five six seven\n\nend\n',
    how: 'sent',
    files: ['a.png'],
  })
  assert.deepEqual(lines, ['', '▌ one two three four five six', '▌ seven', '▌', '▌ end', '▌ + a.png'])
  assert.deepEqual(renderLines({ kind: 'user', text: 'x', how: 'steered', files: [] }), [
    '',
    '▌ x',
    '▌ while it worked',
  ])
})

test('renderBlock() leaves a gap before an answer, but not inside a continued one', () => {
  const answer = { kind: 'answer', agent: 'crab', isFirst: false } as const
  assert.deepEqual(renderLines({ ...answer, text: '- b', continues: true }), ['• b'])
  assert.deepEqual(renderLines({ ...answer, text: 'b', continues: false }), ['', 'b'])
  assert.deepEqual(renderLines({ ...answer, text: ' \n', continues: false }), [])
})

test('renderBlock() renders a whole answer like its streamed parts', () => {
  fc.assert(
    fc.property(DOCUMENT, fc.array(fc.nat(), { maxLength: 10 }), (document, places) => {
      const text = `begin\n\n${document}`
      const chunks = cutAt(text, places)
      let open = { text: '', carry: '' }
      const parts = chunks.flatMap((chunk, i) => {
        const split = splitClosed({ ...open, text: open.text + chunk }, i === chunks.length - 1)
        open = split
        return split.closed
      })
      const answer = { kind: 'answer', agent: 'crab', isFirst: false } as const
      assert.deepEqual(
        parts.flatMap((part) => renderLines({ ...answer, ...part })),
        renderLines({ ...answer, text, continues: false }),
      )
    }),
    { numRuns: propertyRuns(300) },
  )
})

test('renderBlock() folds thinking to a line, and unfolds it with details', () => {
  const text = '**Plan**\nfirst look, then leap'
  assert.deepEqual(renderLines({ kind: 'thinking', text, isFirst: true }), ['', 'Thought: Plan'])
  assert.deepEqual(renderLines({ kind: 'thinking', text, isFirst: false }), [])
  assert.deepEqual(renderLines({ kind: 'thinking', text, isFirst: false }, { details: true }), [
    '',
    '**Plan**',
    'first look, then leap',
  ])
})

test('renderBlock() shows a notice with its hint under its mark', () => {
  assert.deepEqual(
    renderLines({ kind: 'notice', tone: 'error', text: 'It broke because of something', hint: 'try again' }),
    ['', '✗ It broke because of', '  something', '  try again'],
  )
  assert.deepEqual(renderLines({ kind: 'notice', tone: 'warning', text: 'x' }), ['', '! x'])
})

test('renderBlock() folds a notice of page length, unless details are on', () => {
  const notice: Block = { kind: 'notice', tone: 'error', text: 'line\n'.repeat(50), hint: 'go on' }
  assert.deepEqual(renderLines(notice).slice(-3), ['  line', '  …', '  go on'])
  assert.equal(renderLines(notice).length, 1 + 12 + 1)
  assert.equal(renderLines(notice, { details: true }).length, 1 + 50 + 1)
})

test('renderBlock() aligns rows, and stacks cells where there is no room', () => {
  const rows = [
    ['claude', 'anthropic', '200k'],
    ['漢字', 'openai'],
  ]
  assert.deepEqual(renderLines({ kind: 'output', title: 'Models', rows }), [
    '',
    'Models',
    'claude  anthropic  200k',
    '漢字    openai',
  ])
  assert.deepEqual(renderLines({ kind: 'output', title: '', text: 'a\nb', rows }, { columns: 12 }), [
    '',
    'a',
    'b',
    'claude',
    'anthropic',
    '200k',
    '漢字',
    'openai',
  ])
})

test('renderBlock() shows a question with its answer, and a rule with its text', () => {
  assert.deepEqual(renderLines({ kind: 'answered', question: 'Which one?', answer: 'this\nthat' }), [
    '',
    '? Which one?',
    '→ this',
    '  that',
  ])
  assert.deepEqual(renderLines({ kind: 'rule', text: 'earlier' }), ['', `── earlier ${'─'.repeat(19)}`])
})
