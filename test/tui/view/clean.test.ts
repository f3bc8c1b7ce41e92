import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cleanLine, cleanText } from '../../../src/tui/view/clean.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { assertPrintable } from './support.ts'

test('cleanText() keeps only visible characters, for any input', () => {
  const unit = fc.oneof(
    fc.integer({ min: 0, max: 0x2ff }),
    fc.integer({ min: 0x2000, max: 0x206f }),
    fc.integer({ min: 0, max: 0x10ffff }),
  )
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 200 }), (codes) => {
      const text = String.fromCodePoint(...codes)
      assertPrintable(cleanText(text).split('\n'), 10_000)
      assertPrintable([cleanLine(text)], 10_000)
    }),
    { numRuns: propertyRuns(500) },
  )
})

test('cleanText() does not change ordinary text', () => {
  for (const text of [
    'naïve – “quoted” 3 €',
    'می‌خواهم',
    'हिन्दी',
    'ไทย',
    '👨‍👩‍👧‍👦 👍🏽 ❤️',
    '한국어 日本語',
    'שָׁלוֹם',
    'Việt',
  ]) {
    assert.equal(cleanText(text), text)
  }
})

test('cleanText() turns every line break into a line feed, and tabs into spaces', () => {
  assert.equal(cleanText('a\r\nb\rc\u2028d'), 'a\nb\nc\nd')
  assert.equal(cleanText('\ta\tb\nabc\td'), '    a   b\nabc d')
})

test('cleanText() allows four accents per letter', () => {
  assert.equal(cleanText(`a${'\u0301'.repeat(9)}`), `a${'\u0301'.repeat(4)}`)
})

test('cleanLine() joins lines into one', () => {
  assert.equal(cleanLine('a  \n\n b\r\nc'), 'a b c')
})
