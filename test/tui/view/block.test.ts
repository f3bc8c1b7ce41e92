import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { renderBlock } from '../../../src/tui/view/block.ts'
import type { Block } from '../../../src/tui/view/blocks.ts'
import { splitClosed } from '../../../src/tui/view/markdown/split.ts'
import { ANSI_PALETTE, setPalette } from '../../../src/tui/view/style.ts'
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

test('renderBlock() shows the welcome on one line, without the version where there is no room', () => {
  const welcome = { kind: 'welcome', agent: 'crab', version: '1.2.3', hint: 'word '.repeat(30) } as const
  const block: Block = { ...welcome, model: 'big-model', cwd: '~/src (main)' }
  assert.deepEqual(renderLines({ ...block, hint: '' }, { columns: 60 }), [
    'crabtalk 1.2.3 · crab · big-model · ~/src (main)',
  ])
  assert.deepEqual(renderLines({ ...block, hint: '' }, { columns: 40 }), [
    'crabtalk · crab · big-model · ~/src (ma…',
  ])
  assert.deepEqual(renderLines({ ...block, model: '', hint: '' }), ['crabtalk · crab · ~/src (main)'])
  assert.equal(renderLines(block).length, 3)
})

test("renderBlock() tints a user's message up to the same column where the palette has a tint", () => {
  const block: Block = { kind: 'user', text: 'one\nthree', how: 'sent', files: [] }
  setPalette({ ...ANSI_PALETTE, 'user-background': [[100, 49]] })
  const lines = renderLines(block, { color: true })
  setPalette(ANSI_PALETTE)
  assert.deepEqual(lines.slice(1), [
    '\u001b[100m\u001b[36m▌\u001b[39m one   \u001b[49m',
    '\u001b[100m\u001b[36m▌\u001b[39m three \u001b[49m',
  ])
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

test('renderBlock() shows a long paste of a message as its label, and in full with details', () => {
  const paste = Array.from({ length: 20 }, (_, at) => `row ${at}`).join('\n')
  const text = `Explain this: ${paste}\nand this: short`
  const block: Block = { kind: 'user', text, how: 'sent', files: [], pasted: [paste, 'short'] }
  assert.deepEqual(renderLines(block, { columns: 60 }).slice(1), [
    '▌ Explain this: [Pasted 20 lines]',
    '▌ and this: short',
  ])
  assert.equal(renderLines(block, { columns: 60, details: true }).length, 22)
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

test('renderBlock() names the key of the transcript where messages are left out, except in plain lines', () => {
  const block: Block = { kind: 'rule', text: '8 earlier messages', isCut: true }
  assert.match(renderLines(block, { columns: 60 })[1]!, /^── 8 earlier messages · Ctrl\+O ─+$/)
  assert.match(renderLines(block, { columns: 60, isPlain: true })[1]!, /^── 8 earlier messages ─+$/)
})

test('renderBlock() leaves out the last parts of a rule that do not fit', () => {
  const rule = (text: string) => renderLines({ kind: 'rule', text })[1]
  assert.equal(rule('continued: one · /new starts over'), `── continued: one ${'─'.repeat(12)}`)
  assert.equal(rule('continued: 漢字 · /new'), '── continued: 漢字 · /new ────')
  assert.equal(rule('continued: words without an end · /new'), '── continued: words withou… ──')
})
