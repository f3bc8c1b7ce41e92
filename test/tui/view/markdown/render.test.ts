import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { warmMarkdown } from '../../../../src/tui/view/markdown/load.ts'
import { renderMarkdown } from '../../../../src/tui/view/markdown/render.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { DOCUMENT } from '../markdown-documents.ts'
import { assertPrintable, makeView, plain } from '../support.ts'

const WIDTH = fc.integer({ min: 10, max: 120 })
const renderLines = (text: string, columns = 40) => renderMarkdown(text, makeView({ columns }))

test('renderMarkdown() makes lines that fit, for any text', () => {
  fc.assert(
    fc.property(DOCUMENT, WIDTH, fc.boolean(), (text, columns, color) => {
      assertPrintable(renderMarkdown(text, makeView({ columns, color })), columns)
    }),
    { numRuns: propertyRuns(150) },
  )
})

test('renderMarkdown() shows every word of every block, once and in order', () => {
  fc.assert(
    fc.property(DOCUMENT, (document) => {
      let number = 0
      const harmless = document.replaceAll(/[[\]()|<>`~]/g, '')
      const text = harmless.replaceAll(/[a-j]+/g, () => `w${number++}w`)
      const shown = plain(renderMarkdown(text, makeView({ columns: 200 }))).join(' ')
      assert.deepEqual(shown.match(/w\d+w/g) ?? [], text.match(/w\d+w/g) ?? [])
    }),
    { numRuns: propertyRuns(150) },
  )
})

test('renderMarkdown() shows the source as long as there is no parser', () => {
  assert.deepEqual(renderMarkdown('# a\n**b**', makeView({ parse: undefined })), ['# a', '', '**b**'])
})

test('renderMarkdown() shows the marks of headings only without colors', () => {
  assert.deepEqual(renderLines('# One\nTwo\n---'), ['# One', '', '## Two'])
  const [first, , second] = renderMarkdown('# One\n\n## Two', makeView({ color: true }))
  assert.equal(first, '\x1b[1m\x1b[36m\x1b[4mOne\x1b[24m\x1b[39m\x1b[22m')
  assert.equal(second, '\x1b[1m\x1b[36mTwo\x1b[39m\x1b[22m')
})

test('renderMarkdown() keeps line breaks and styles words', () => {
  assert.deepEqual(renderLines('one\ntwo  \nthree\\\nfour'), ['one', 'two', 'three', 'four'])
  assert.deepEqual(renderLines('**a** *b* `c` ~~d~~ \\* &lt;x&gt; &#27;'), ['a b `c` d * <x> &#27;'])
  assert.deepEqual(renderMarkdown('**a *b***', makeView({ color: true })), [
    '\x1b[1ma \x1b[3mb\x1b[23m\x1b[22m',
  ])
})

test('renderMarkdown() shows the target of a link, once', () => {
  assert.deepEqual(renderLines('[here](http://a.b) <http://c.d> x@y.z'), [
    'here (http://a.b) http://c.d x@y.z',
  ])
  assert.deepEqual(renderLines('![alt](a.png) ![](b.png)'), ['[image: alt] (a.png) [image] (b.png)'])
})

test('renderMarkdown() indents lists below their marks', () => {
  const text = [
    '- one that is longer than a line of forty columns',
    '  - two',
    '    10. three',
    '- [x] done',
  ].join('\n')
  assert.deepEqual(renderLines(text), [
    '• one that is longer than a line of',
    '  forty columns',
    '  • two',
    '    10. three',
    '[x] done',
  ])
})

test('renderMarkdown() shows loose lists as tight ones, and separates blocks inside items', () => {
  assert.deepEqual(renderLines('9. a\n\n   b\n\n10. c\n'), ['9. a', '', '   b', '10. c'])
})

test('renderMarkdown() stops indenting where there is no room left', () => {
  const deep = Array.from({ length: 15 }, (_, i) => `${'  '.repeat(i)}- x${i}`).join('\n')
  const lines = renderLines(deep, 12)
  assertPrintable(lines, 12)
  assert.match(lines.join('\n'), /x14/)
})

test('renderMarkdown() puts a bar before quotes', () => {
  assert.deepEqual(renderLines('> a\nb\n>\n> > c'), ['│ a', '│ b', '│', '│ │ c'])
})

test('renderMarkdown() shows HTML, definitions and breaks as text', () => {
  assert.deepEqual(renderLines('<b>x</b>\n\n[a]: http://x\n\n***'), [
    '<b>x</b>',
    '',
    '[a]: http://x',
    '',
    '─'.repeat(40),
  ])
})

test('renderMarkdown() finishes any input in reasonable time', () => {
  const many = 10_000
  const texts = [
    '*',
    '[',
    '> ',
    '- ',
    '![',
    '[a](',
    '**a *b ',
    '`a',
    '<a ',
    '| a ',
    '\\',
    '_a_',
    '- a\n\n',
    '> a\n',
  ]
  for (const text of texts) assertPrintable(renderLines(text.repeat(many)), 40)
  assertPrintable(renderLines(Array.from({ length: 500 }, (_, i) => `${'  '.repeat(i)}- a`).join('\n')), 40)
  assert.equal(renderLines('some words and `code`\n\n'.repeat(45_000)).length, 89_999)
})

test('warmMarkdown() does not change parse results', async () => {
  const text = '# a\n\nb *c* `d` [e](f)\n\n- g\n'
  const before = renderLines(text)
  await warmMarkdown()
  assert.deepEqual(renderLines(text), before)
})
