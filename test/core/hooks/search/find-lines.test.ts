import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patternLineFinder, splitLineSpans } from '../../../../src/core/hooks/search/find-lines.ts'

test('splitLineSpans() spans every line, with or without a line break at the end', () => {
  const lines = (text: string) =>
    [...splitLineSpans(text)].map(({ number, start, end }) => [number, text.slice(start, end)])
  assert.deepEqual(lines('a\r\n\nb\r\r\nc'), [
    [1, 'a'],
    [2, ''],
    [3, 'b\r'],
    [4, 'c'],
  ])
  assert.deepEqual(lines('a\n'), [[1, 'a']])
  assert.deepEqual(lines('\r\n'), [[1, '']])
  assert.deepEqual(lines(''), [])
})

test('patternLineFinder() finds lines up to the limit, with the positions of matches', () => {
  const find = patternLineFinder(/b+/u)
  assert.deepEqual(find('ab\nx\nbb\nb', 2), [
    { number: 1, start: 0, end: 2, at: 1 },
    { number: 3, start: 5, end: 7, at: 0 },
  ])
  assert.deepEqual(find('', 2), [])
})

test('patternLineFinder() gives up on an endless pattern, and can be used again', () => {
  const find = patternLineFinder(/^(a+)+$/u, 20)
  const refused = { kind: 'invalid', message: 'Cannot search: the pattern takes too long' }
  assert.throws(() => find(`${'a'.repeat(50)}!`, 1), refused)
  assert.equal(find('aaa', 1).length, 1)
})
