import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { lazySegmenter, plainWidth } from '../../scripts/sea/plain-text.ts'
import { propertyRuns } from '../support/property-runs.ts'

const segmenter = new Intl.Segmenter()
const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit))
const plain = units.filter((unit) => plainWidth(unit) !== undefined)

/** Text with many plain characters, some others, and colors. */
const text = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...plain) },
      fc.constantFrom(
        '\x1b[31m',
        '\x1b[38;5;196m',
        '\x1b[4:3m',
        '\x1b[m',
        '\x1b]8;;x\x07',
        '\x1b[2J',
        '\x9b31m',
      ),
      fc.constantFrom(
        '\x1b',
        '\n',
        '\r\n',
        '\t',
        '\u00ad',
        '\u0301',
        '\ufe0f',
        '\u200d',
        '漢',
        '👩‍👩‍👧',
        '🇩🇪',
        '1\ufe0f\u20e3',
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

test('plainWidth() knows the usual characters, and returns one column where string-width does', () => {
  for (const common of ['a', 'é', 'λ', 'ж', '—', '…', '─', '▌', '●', '✓', '❯', '⠋'])
    assert.ok(plain.includes(common))
  assert.deepEqual(
    plain.filter((unit) => stringWidth(unit) !== 1),
    [],
  )
})

test('plainWidth() returns the width of string-width or nothing', () => {
  const options = fc.constantFrom({}, { countAnsiEscapeCodes: true }, { ambiguousIsNarrow: false })
  fc.assert(
    fc.property(text, options, (text, options) => {
      assert.equal(plainWidth(text, options) ?? stringWidth(text, options), stringWidth(text, options))
    }),
    { numRuns: propertyRuns(3000) },
  )
})

test('plain characters are segments of their own next to any other', () => {
  const all = plain.join('')
  for (const next of ['a', '1', '©', 'λ', '⠋']) {
    const together = plain.map((unit) => unit + next).join('')
    assert.equal([...segmenter.segment(together)].length, together.length)
  }
  assert.equal([...segmenter.segment(all)].length, all.length)
})

test('lazySegmenter() returns the segments of the real one', () => {
  const lazy = lazySegmenter(() => segmenter)
  fc.assert(
    fc.property(text, (text) => {
      const expected = [...segmenter.segment(text)]
      assert.deepEqual([...lazy.segment(text)], expected)
      for (const at of [undefined, 0, 1, text.length >> 1, text.length]) {
        const found = lazy.segment(text).containing(at)
        assert.deepEqual(found, segmenter.segment(text).containing(at))
      }
    }),
    { numRuns: propertyRuns(3000) },
  )
})

test('lazySegmenter() creates the real one for text that is not plain, once', () => {
  let made = 0
  const lazy = lazySegmenter(() => {
    made++
    return segmenter
  })
  assert.equal([...lazy.segment('plain \x1b[31mtext')].length, 15)
  assert.equal(made, 0)
  assert.equal([...lazy.segment('👩‍👩‍👧!'), ...lazy.segment('e\u0301')].length, 3)
  assert.equal(made, 1)
})
