import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findRanges, toPieces, toRanges } from '../../../src/tui/search/pieces.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('toRanges() converts byte offsets into positions in the text, for characters of any length', () => {
  const text = 'é 漢字 👍 end'
  const bytes = (part: string) => {
    const start = Buffer.from(text.slice(0, text.indexOf(part))).length
    return [start, start + Buffer.from(part).length]
  }
  const ranges = toRanges(text, [...bytes('é'), ...bytes('字'), ...bytes('👍'), ...bytes('end')])
  assert.deepEqual(
    ranges.map(([from, to]) => text.slice(from, to)),
    ['é', '字', '👍', 'end'],
  )
})

test('toRanges() drops offsets that lie inside a character, outside the text, or go back', () => {
  assert.deepEqual(toRanges('aé', [0, 2]), [])
  assert.deepEqual(toRanges('abc', [1, 9]), [])
  assert.deepEqual(toRanges('abc', [2, 1]), [])
  assert.deepEqual(toRanges('abc', [1, 1]), [])
  assert.deepEqual(toRanges('abc', [1]), [])
  assert.deepEqual(toRanges('abc', [1, 3, 0, 2]), [[1, 3]])
})

test('toPieces() splits a text at the matches', () => {
  assert.deepEqual(toPieces('one two three', [[4, 7]]), [
    { text: 'one ', isMatch: false },
    { text: 'two', isMatch: true },
    { text: ' three', isMatch: false },
  ])
  assert.deepEqual(toPieces('one', [[0, 3]]), [{ text: 'one', isMatch: true }])
  assert.deepEqual(toPieces('', []), [])
})

test('toPieces() keeps the surroundings of the first match of a long text', () => {
  const text = `${'a'.repeat(5_000)}X${'b'.repeat(5_000)}`
  const pieces = toPieces(text, [[5_000, 5_001]])
  assert.deepEqual(
    pieces.map(({ text, isMatch }) => (isMatch ? text : `${text[0]}${text.length}`)),
    ['…1', 'a200', 'X', 'b799', '…1'],
  )
})

test('findRanges() finds a phrase in upper and lower case, and nothing for an empty one', () => {
  assert.deepEqual(findRanges('Git git', 'GIT'), [
    [0, 3],
    [4, 7],
  ])
  assert.deepEqual(findRanges('git', ''), [])
  assert.deepEqual(findRanges('İ git', 'git'), [], 'its lower case is longer')
})

test('the joined pieces are a part of the text, for any offsets', () => {
  const TEXT = fc.string({ unit: 'binary', maxLength: 60 })
  fc.assert(
    fc.property(TEXT, fc.array(fc.integer({ min: -2, max: 200 })), (text, offsets) => {
      const pieces = toPieces(text, toRanges(text, offsets))
      assert.equal(pieces.map((piece) => piece.text).join(''), text)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})
