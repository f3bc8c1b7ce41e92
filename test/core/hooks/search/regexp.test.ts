import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toRegExp } from '../../../../src/core/hooks/search/javascript.ts'

test('toRegExp() converts ripgrep syntax that JavaScript writes differently', () => {
  const cases: [pattern: string, expected: RegExp][] = [
    ['a.b', /a.b/u],
    ['(?i)a', /a/iu],
    ['(?si)a', /a/iu],
    ['(?m)a', /a/u],
    ['[[:alpha:]_]+', /[a-zA-Z_]+/u],
    ['a]', /a]/],
    ['\\p{Lu}', /\p{Lu}/u],
  ]
  for (const [pattern, expected] of cases) {
    assert.deepEqual(toRegExp({ pattern, ignoreCase: false }), expected, pattern)
  }
  assert.deepEqual(toRegExp({ pattern: 'a', ignoreCase: true }), /a/iu)
})

test('toRegExp() rejects syntax that it would read differently from ripgrep', () => {
  for (const pattern of ['\\Afoo', '\\h+', 'foo\\z', '(?P<name>x)', '[[:graph:]]', '[[:^alpha:]]']) {
    assert.throws(() => toRegExp({ pattern, ignoreCase: false }), { kind: 'invalid' }, pattern)
  }
})
