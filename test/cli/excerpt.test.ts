import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import measureWidth from 'string-width'
import { type ExcerptStyle, excerptLine } from '../../src/cli/excerpt.ts'
import { propertyRuns } from '../support/property-runs.ts'

const LINE = { width: Number.POSITIVE_INFINITY, color: false, measureWidth }
const TEXT = 'The quick brown fox jumps over the lazy dog and never comes back to where it began'

for (const [what, text, word, more, shown] of [
  ['leaves a short text as it is', TEXT, 'fox', {}, TEXT],
  ['makes one line of several', '  a\n\n\tb \r\n c ', 'b', {}, 'a b c'],
  ['removes what a terminal obeys', 'a\u001b[31mb\u001b]0;x\u0007c\u202ed', 'b', {}, 'abcd'],
  ['shows nothing of a match that a terminal would obey', 'a\u001b]0;match\u0007b', 'match', {}, 'ab'],
  ['colours matches', 'one two', 'two', { color: true }, 'one \u001b[31m\u001b[1mtwo\u001b[22m\u001b[39m'],
  ['cuts the end', TEXT, 'quick', { width: 20 }, 'The quick brown fox…'],
  ['shows a match far behind', TEXT, 'began', { width: 20 }, '…to where it began'],
  ['shows a match in the middle', TEXT, 'never', { width: 24 }, '…and never comes back t…'],
  ['counts wide characters', '数据库迁移和备份策略', '备份', { width: 10 }, '…和备份策…'],
  ['keeps offsets behind several bytes', 'Grüße aus Köln', 'Köln', { color: true, width: 10 }, undefined],
] as const) {
  test(`excerptLine() ${what}`, () => {
    const line = excerptLine({ text, matches: place(text, word) }, { ...LINE, ...more })
    if (shown !== undefined) assert.equal(line, shown)
    else assert.ok(line.includes('\u001b[31m\u001b[1mKöln\u001b[22m'), line)
  })
}

test('excerptLine() never exceeds its width, and shows the first match when it fits', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 300 })
  fc.assert(
    fc.property(text, text, fc.integer({ min: 12, max: 200 }), (before, behind, width) => {
      const all = `${before} needle ${behind}`
      const at = Buffer.byteLength(`${before} `)
      const style: ExcerptStyle = { width, color: false, measureWidth }
      const line = excerptLine({ text: all, matches: [at, at + 6] }, style)
      assert.ok(
        [...line].reduce((sum, char) => sum + measureWidth(char), 0) <= width || measureWidth(line) <= width,
        line,
      )
      assert.equal(line.split(/\s/).length, line.split(' ').length)
      assert.match(line, /needle/)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('excerptLine() accepts any offsets without failing', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.nat(400)), fc.boolean(), (text, matches, color) => {
      excerptLine({ text, matches }, { width: 40, color, measureWidth })
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('excerptLine() finds its match in a text of megabytes', () => {
  const text = `${'ä '.repeat(500_000)}needle${' ö'.repeat(500_000)}`
  const line = excerptLine({ text, matches: place(text, 'needle') }, { ...LINE, width: 40 })
  assert.match(line, /^…(ä )+needle( ö)+…$/)
  assert.ok(measureWidth(line) <= 40)
})

function place(text: string, word: string): number[] {
  const begin = Buffer.byteLength(text.slice(0, text.indexOf(word)))
  return [begin, begin + Buffer.byteLength(word)]
}
