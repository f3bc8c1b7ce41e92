import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matches } from './page.ts'

test('matches() compares text exactly, and … with anything', () => {
  const fits: [string, string][] = [
    ['a\nb\n', 'a\nb\n'],
    ['a …\n', 'a long way  \n'],
    ['a\n…\nz\n', 'a\nz'],
    ['a\n…\nz\n', 'a\nb\nc\nz\n'],
    ['(…) [x]*\n', '(7) [x]*'],
  ]
  for (const [expected, actual] of fits) assert.ok(matches(expected, actual), expected)
  const others: [string, string][] = [
    ['a\nb\n', 'a\n'],
    ['a …\n', 'b long way\n'],
    ['a …\n', 'a\nmore\n'],
    ['a\n…\nz\n', 'a\nb\n'],
    ['.', 'x'],
  ]
  for (const [expected, actual] of others) assert.ok(!matches(expected, actual), expected)
})
