import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { closeOpenText, splitClosed } from '../../../../src/tui/view/markdown/split.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { cutAt, DOCUMENT } from '../markdown-documents.ts'

type Part = { text: string; continues: boolean }

/** Returns the closed parts of a text that arrives in these pieces. */
function stream(chunks: readonly string[]): Part[] {
  let open = { text: '', carry: '' }
  const parts: Part[] = []
  for (const [i, chunk] of chunks.entries()) {
    const split = splitClosed({ ...open, text: open.text + chunk }, i === chunks.length - 1)
    parts.push(...split.closed)
    open = split
  }
  assert.equal(open.text, '')
  return parts
}

const splitTexts = (markdown: string) => stream([markdown]).map(({ text }) => text)
const fenceLines = (count: number) => Array.from({ length: count }, (_, i) => `line${i}`)

test('splitClosed() returns the same parts for any division into chunks', () => {
  fc.assert(
    fc.property(DOCUMENT, fc.array(fc.nat(), { maxLength: 40 }), (text, places) => {
      assert.deepEqual(stream(cutAt(text, places)), stream([text]))
    }),
    { numRuns: propertyRuns(300) },
  )
})

test('splitClosed() returns the same parts for single characters', () => {
  fc.assert(
    fc.property(DOCUMENT, (text) => {
      const short = text.slice(0, 600)
      assert.deepEqual(stream([...short.split(''), '']), stream([short]))
    }),
    { numRuns: propertyRuns(600, 60) },
  )
})

test('splitClosed() loses nothing and repeats only what opens a fence or a table', () => {
  fc.assert(
    fc.property(fc.array(DOCUMENT, { maxLength: 3 }), (documents) => {
      let number = 0
      const text = documents.join('\n').replaceAll(/[a-j]+/g, () => `w${number++}w`)
      const seen = new Set<string>()
      const words = stream([text]).flatMap((part) => {
        const all = part.text.match(/w\d+w/g) ?? []
        const fresh = part.continues ? all.filter((word) => !seen.has(word)) : all
        for (const word of fresh) seen.add(word)
        return fresh
      })
      assert.deepEqual(words, text.match(/w\d+w/g) ?? [])
    }),
    { numRuns: propertyRuns(200) },
  )
})

test('splitClosed() keeps a block open until the next line shows that it is over', () => {
  assert.deepEqual(splitClosed({ text: 'one\ntwo', carry: '' }, false), {
    closed: [],
    text: 'one\ntwo',
    carry: '',
  })
  assert.deepEqual(splitClosed({ text: 'one\n\ntw', carry: '' }, false), {
    closed: [{ text: 'one', continues: false }],
    text: 'tw',
    carry: '',
  })
})

test('splitClosed() closes blocks of one line, and paragraphs that become headings', () => {
  assert.deepEqual(splitTexts('# a\nb\n---\nc\n===\nd\n***\n---\n'), [
    '# a',
    'b\n---',
    'c\n===',
    'd',
    '***',
    '---',
  ])
})

test('splitClosed() closes a list item by item, with their contents', () => {
  const parts = stream(['- a\n  - b\n\n  para\n- c\nlazy\n* other\n\n* again\n\nend\n'])
  assert.deepEqual(parts, [
    { text: '- a\n  - b\n\n  para', continues: false },
    { text: '- c\nlazy', continues: true },
    { text: '* other', continues: false },
    { text: '* again', continues: true },
    { text: 'end', continues: false },
  ])
})

test('splitClosed() keeps a fence in a list item together', () => {
  assert.deepEqual(splitTexts('1. a\n   ```\n   - x\n\n   y\n   ```\n2. b\n'), [
    '1. a\n   ```\n   - x\n\n   y\n   ```',
    '2. b',
  ])
})

test('splitClosed() ends a fence with its own characters only', () => {
  assert.deepEqual(splitTexts('````md\n```\n~~~\n````\nafter\n'), ['````md\n```\n~~~\n````\n', 'after'])
  assert.deepEqual(splitTexts('~~~\n```\n~~~~\nafter'), ['~~~\n```\n~~~~\n', 'after'])
})

test('splitClosed() closes a long fence in parts that open it again', () => {
  const parts = stream([['```ts', ...fenceLines(50), '```', 'after'].join('\n')])
  assert.deepEqual(parts, [
    { text: ['```ts', ...fenceLines(24), ''].join('\n'), continues: false },
    { text: ['```ts', ...fenceLines(48).slice(24), ''].join('\n'), continues: true },
    { text: ['```ts', ...fenceLines(50).slice(48), '```', ''].join('\n'), continues: true },
    { text: 'after', continues: false },
  ])
})

test('splitClosed() closes a fence at a blank line, and has nothing left when it ends there', () => {
  const code = [...fenceLines(14), '']
  const parts = stream([['```ts', ...code, '```', 'after'].join('\n')])
  assert.deepEqual(parts, [
    { text: ['```ts', ...code, ''].join('\n'), continues: false },
    { text: 'after', continues: false },
  ])
})

test('splitClosed() closes a long table in parts that repeat its header', () => {
  const rows = Array.from({ length: 70 }, (_, i) => `| ${i} | x |`)
  const parts = stream([['| a | b |', '| - | - |', ...rows, '', 'after'].join('\n')])
  assert.deepEqual(parts, [
    { text: ['| a | b |', '| - | - |', ...rows.slice(0, 60)].join('\n'), continues: false },
    { text: ['| a | b |', '| - | - |', ...rows.slice(60)].join('\n'), continues: true },
    { text: 'after', continues: false },
  ])
})

test('splitClosed() closes an endless paragraph at a word', () => {
  const [first, second] = stream(['word '.repeat(2000)])
  assert.equal(first?.text.length, 4094)
  assert.equal(second?.continues, true)
  assert.match(second?.text ?? '', /^word/)
})

test('splitClosed() never leaves more open than a screen or two', () => {
  const texts = [
    `\`\`\`\n${'x\n'.repeat(5000)}`,
    'x '.repeat(50_000),
    '- x\n'.repeat(5000),
    '> x\n'.repeat(5000),
  ]
  for (const text of texts) {
    const { text: left } = splitClosed({ text, carry: '' }, false)
    assert.ok(left.length < 10_000, `${text.slice(0, 8)}: ${left.length}`)
  }
})

test('closeOpenText() returns the open part as Markdown by itself', () => {
  const { text, carry } = splitClosed({ text: `\`\`\`ts\n${fenceLines(30).join('\n')}`, carry: '' }, false)
  assert.deepEqual(closeOpenText({ text, carry }), {
    text: ['```ts', ...fenceLines(30).slice(24)].join('\n'),
    continues: true,
  })
})
