import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { isSimple, simpleWidth } from '../../../src/tui/text/characters.ts'
import { toGraphemes } from '../../../src/tui/text/graphemes.ts'
import { paint, type TextStyle } from '../../../src/tui/view/style.ts'
import { cutText, measureWidth, padText, truncateText, wrapLines } from '../../../src/tui/view/text.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { assertPrintable, plain } from './support.ts'

const STYLES: readonly TextStyle[] = ['bold', 'dim', 'accent', 'error', 'link', 'heading']
const LETTERS = [
  ...'abcdefg hij  .,-',
  '漢',
  '字',
  '。',
  'é',
  'e\u0301',
  '👍🏽',
  '👨‍👩‍👧',
  '🇩🇪',
  '한',
  'ß',
  '→',
  'ｶﾞ',
]
const WORDS = fc.string({ maxLength: 120, unit: fc.constantFrom(...LETTERS) })
const STYLED = fc
  .array(fc.tuple(WORDS, fc.subarray([...STYLES])), { maxLength: 6 })
  .map((pieces) => pieces.map(([text, styles]) => paint(text, true, ...styles)).join(''))
const WIDTH = fc.integer({ min: 2, max: 60 })

const withoutBlanks = (text: string) => text.replaceAll(/\s/g, '')

test('measureWidth() agrees with string-width', () => {
  fc.assert(
    fc.property(STYLED, fc.string({ unit: 'grapheme' }), (styled, text) => {
      assert.equal(measureWidth(styled), stringWidth(styled))
      assert.equal(measureWidth(text), stringWidth(text))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('wrapLines() makes lines that fit, lose nothing, and close their colors', () => {
  fc.assert(
    fc.property(STYLED, WIDTH, (text, width) => {
      const lines = wrapLines(text, width)
      assertPrintable(lines, width)
      assert.equal(withoutBlanks(plain(lines).join('')), withoutBlanks(plain([text])[0]!))
    }),
    { numRuns: propertyRuns(400) },
  )
})

test('wrapLines() breaks between words, and inside a word only if it is longer than a line', () => {
  assert.deepEqual(wrapLines('the quick brown fox', 10), ['the quick', 'brown fox'])
  assert.deepEqual(wrapLines('a supercalifragilistic b', 10), ['a', 'supercalif', 'ragilistic', 'b'])
  assert.deepEqual(wrapLines('日本語の文章です。とても', 8), ['日本語の', '文章で', 'す。とて', 'も'])
})

test('wrapLines() keeps line breaks, blank lines and indentation', () => {
  assert.deepEqual(wrapLines('a\n\n  b', 10), ['a', '', '  b'])
  assert.deepEqual(wrapLines('', 10), [''])
})

test('wrapLines() opens a color again on the next line', () => {
  assert.deepEqual(wrapLines(paint('one two', true, 'error'), 4), [
    '\x1b[31mone\x1b[39m',
    '\x1b[31mtwo\x1b[39m',
  ])
})

test('wrapLines() and truncateText() remove control sequences except colors', () => {
  const text = 'a\x1b[2Jb\x07c\rd\te\x1b]0;x'
  assertPrintable(wrapLines(text, 20), 20)
  assertPrintable([truncateText(text, 8), ...cutText(text, 5, 3)], 8)
})

test('wrapLines() shows a character that is wider than the line as a mark', () => {
  assert.deepEqual(wrapLines('漢', 1), ['…'])
})

test('wrapLines() takes time in proportion to the text', () => {
  assert.equal(wrapLines('x'.repeat(1_000_000), 100).length, 10_000)
  assert.equal(wrapLines('ab '.repeat(300_000), 60).length, 15_000)
})

test('truncateText() cuts what is too wide, with a mark at the end and its colors closed', () => {
  fc.assert(
    fc.property(STYLED, WIDTH, (text, width) => {
      const line = truncateText(text, width)
      assertPrintable([line], width)
      if (measureWidth(text) <= width) assert.equal(line, text)
      else assert.ok(plain([line])[0]!.endsWith('…'))
    }),
    { numRuns: propertyRuns(1_000) },
  )
  assert.equal(truncateText('日本語', 4), '日…')
  assert.equal(truncateText('abc', 0), '')
})

test('cutText() cuts between graphemes and keeps every blank', () => {
  fc.assert(
    fc.property(STYLED, WIDTH, WIDTH, (text, first, rest) => {
      const lines = cutText(text, first, rest)
      assertPrintable(lines, Math.max(first, rest))
      assert.equal(plain(lines).join(''), plain([text])[0])
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('padText() pads on either side', () => {
  assert.equal(padText('漢', 4), '漢  ')
  assert.equal(padText('a', 4, 'right'), '   a')
  assert.equal(padText('a', 4, 'center'), ' a  ')
  assert.equal(padText('long', 2), 'long')
})

test('toGraphemes() keeps together what a reader sees as one character', () => {
  assert.deepEqual(toGraphemes('ae\u0301👨‍👩‍👧'), ['a', 'e\u0301', '👨‍👩‍👧'])
})

test('measureWidth() and toGraphemes() are right for simple characters, which they do not look up', () => {
  const segmenter = new Intl.Segmenter()
  for (let code = 0x20; code <= 0xffff; code++) {
    const char = String.fromCharCode(code)
    if (!isSimple(char)) continue
    assert.equal(simpleWidth(char), stringWidth(char), code.toString(16))
    for (const other of ['a', '漢', '한', 'ア', char]) {
      assert.equal([...segmenter.segment(other + char)].length, 2, code.toString(16))
    }
  }
})

test('wrapLines() terminates for a width of NaN', () => {
  assert.deepEqual(wrapLines('ab', Number.NaN), ['a', 'b'])
})
