import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { warmMarkdown } from '../../../../src/tui/view/markdown/load.ts'
import { renderMarkdown } from '../../../../src/tui/view/markdown/render.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { DOCUMENT } from '../markdown-documents.ts'
import { assertPrintable, makeView, plain } from '../support.ts'

const WIDTH = fc.integer({ min: 10, max: 120 })
const linesOf = (text: string, columns = 40) => renderMarkdown(text, makeView({ columns }))

test('renderMarkdown() makes lines that fit of anything', () => {
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

test('renderMarkdown() shows Markdown as it was written as long as there is no parser', () => {
  assert.deepEqual(renderMarkdown('# a\n**b**', makeView({ parse: undefined })), ['# a', '', '**b**'])
})

test('renderMarkdown() shows headings with their marks only where there are no colours', () => {
  assert.deepEqual(linesOf('# One\nTwo\n---'), ['# One', '', '## Two'])
  const [first, , second] = renderMarkdown('# One\n\n## Two', makeView({ color: true }))
  assert.equal(first, '\x1b[1m\x1b[36m\x1b[4mOne\x1b[24m\x1b[39m\x1b[22m')
  assert.equal(second, '\x1b[1m\x1b[36mTwo\x1b[39m\x1b[22m')
})

test('renderMarkdown() keeps line breaks and marks words', () => {
  assert.deepEqual(linesOf('one\ntwo  \nthree\\\nfour'), ['one', 'two', 'three', 'four'])
  assert.deepEqual(linesOf('**a** *b* `c` ~~d~~ \\* &lt;x&gt; &#27;'), ['a b `c` d * <x> &#27;'])
  assert.deepEqual(renderMarkdown('**a *b***', makeView({ color: true })), [
    '\x1b[1ma \x1b[3mb\x1b[23m\x1b[22m',
  ])
})

test('renderMarkdown() shows where a link leads, once', () => {
  assert.deepEqual(linesOf('[here](http://a.b) <http://c.d> x@y.z'), ['here (http://a.b) http://c.d x@y.z'])
  assert.deepEqual(linesOf('![alt](a.png) ![](b.png)'), ['[image: alt] (a.png) [image] (b.png)'])
})

test('renderMarkdown() sets lists in under their marks', () => {
  const text = [
    '- one that is longer than a line of forty columns',
    '  - two',
    '    10. three',
    '- [x] done',
  ].join('\n')
  assert.deepEqual(linesOf(text), [
    '• one that is longer than a line of',
    '  forty columns',
    '  • two',
    '    10. three',
    '• [x] done',
  ])
})

test('renderMarkdown() shows loose lists as tight ones, and blocks within items apart', () => {
  assert.deepEqual(linesOf('9. a\n\n   b\n\n10. c\n'), ['9. a', '', '   b', '10. c'])
})

test('renderMarkdown() stops setting in where there is no room left', () => {
  const deep = Array.from({ length: 15 }, (_, i) => `${'  '.repeat(i)}- x${i}`).join('\n')
  const lines = linesOf(deep, 12)
  assertPrintable(lines, 12)
  assert.match(lines.join('\n'), /x14/)
})

test('renderMarkdown() puts a bar before quotes', () => {
  assert.deepEqual(linesOf('> a\nb\n>\n> > c'), ['│ a', '│ b', '│', '│ │ c'])
})

test('renderMarkdown() shows HTML, definitions and breaks as text', () => {
  assert.deepEqual(linesOf('<b>x</b>\n\n[a]: http://x\n\n***'), [
    '<b>x</b>',
    '',
    '[a]: http://x',
    '',
    '─'.repeat(40),
  ])
})

test('renderMarkdown() is done with anything in reasonable time', () => {
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
  for (const text of texts) assertPrintable(linesOf(text.repeat(many)), 40)
  assertPrintable(linesOf(Array.from({ length: 500 }, (_, i) => `${'  '.repeat(i)}- a`).join('\n')), 40)
  assert.equal(linesOf('some words and `code`\n\n'.repeat(45_000)).length, 89_999)
})

test('warmMarkdown() changes nothing in what is parsed', async () => {
  const text = '# a\n\nb *c* `d` [e](f)\n\n- g\n'
  const before = linesOf(text)
  await warmMarkdown()
  assert.deepEqual(linesOf(text), before)
})
