import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { moveTo } from '../../../src/tui/text/editor.ts'
import {
  iterateGraphemes,
  nextBoundary,
  previousBoundary,
  toBoundary,
} from '../../../src/tui/text/graphemes.ts'
import { layOut } from '../../../src/tui/text/layout.ts'
import { EMPTY_PROMPT, withReturned } from '../../../src/tui/text/prompt-state.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const PIECES = [
  'ü',
  '漢か',
  '한',
  'ש',
  'م',
  '©',
  '\ufe0f',
  '“',

  'a',
  ' ',
  '\n',
  '\u0301',
  'e\u0301',
  '\u0600',
  '👩',
  '\u200d',
  '🏽',
  '🇩',
  '🇪',
  '漢',
  'ᄒ',
  'ᅡ',
  'नि',
  '1️⃣',
  '\ud83d',
  '\ude00',
]
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

test('boundaries match Unicode for any division into lines', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      const starts = [...segmenter.segment(text)].map(({ index }) => index).concat(text.length)
      for (let at = 0; at <= text.length; at++) {
        assert.equal(nextBoundary(text, at), starts.find((start) => start > at) ?? text.length)
        assert.equal(previousBoundary(text, at), starts.findLast((start) => start < at) ?? 0)
        assert.equal(
          toBoundary(text, at),
          starts.find((start) => start >= at),
        )
      }
    }),
    { numRuns: propertyRuns(500) },
  )
})

test('moveTo() never leaves the caret inside a grapheme', () => {
  const prompt = withReturned(EMPTY_PROMPT, ['!\u0301👩‍👩‍👧‍👦'])
  for (let at = 0; at <= prompt.text.length; at++)
    assert.ok([0, 2, prompt.text.length].includes(moveTo(prompt, at).caret))
})

test('layOut() uses a placeholder for undrawable characters and those wider than the line', () => {
  const rows = (text: string, width: number) =>
    layOut(text, { width, pastes: new Map(), from: 0 }).lines.map(({ cells }) =>
      cells.map((cell) => cell.text).join(''),
    )
  assert.deepEqual(rows('a\x1b[2J\x9bb\u202ec\u2028\ud800', 20), ['a\ufffd[2J\ufffdb\ufffdc\ufffd\ufffd'])
  assert.deepEqual(rows('漢\t', 1), ['?', ' '])
  assert.deepEqual(rows('', 5), [''])
  assert.deepEqual(rows('one  two', 5), ['one  ', 'two'])
  assert.deepEqual(rows('abcdefgh ij', 5), ['abcde', 'fgh ', 'ij'])
})

test('iterateGraphemes() returns the widths of string-width', () => {
  for (let code = 0x20; code < 0xffff; code++) {
    const char = String.fromCharCode(code)
    const [grapheme] = [...iterateGraphemes(`${char}\u0378`)] // unassigned characters join nothing
    if (grapheme?.text === char) assert.equal(grapheme.width, stringWidth(char), code.toString(16))
  }
})
