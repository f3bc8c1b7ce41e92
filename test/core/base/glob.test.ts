import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import picomatch from 'picomatch'
import { escapeGlob, globMatcher, hasGlob, unescapeGlob } from '../../../src/core/base/glob.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('globMatcher() matches as a shell does', () => {
  const globs: [glob: string, yes: string[], no: string[]][] = [
    ['*', ['a', '.a', 'a b', 'a\nb'], ['', 'a/b']],
    ['*.ts', ['a.ts', '.ts'], ['a.tsx', 'a/b.ts', 'ts']],
    ['a?c', ['abc', 'a😀c', 'a.c'], ['ac', 'a/c', 'abbc']],
    ['**', ['', 'a', 'a/b/.c', 'a\nb/c'], []],
    ['src/**', ['src', 'src/a', 'src/a/b'], ['srcx', 'a/src']],
    ['**/x', ['x', 'a/x', '.a/b/x'], ['ax', 'x/a']],
    ['a/**/b', ['a/b', 'a/c/b', 'a/c/d/b'], ['ab', 'a/b/c', 'a//b', 'a']],
    ['a/**/b/**/a', ['a/b/a', 'a/b/b/a', 'a/c/b/c/b/a/a'], ['a/b', 'a/b//a', 'a/b/a/']],
    ['a/**/b/c/**', ['a/b/b/c', 'a/b/c//'], ['a/b', 'a//b/c']],
    ['a//b', [], ['a/b', 'a//b']],
    ['ab*ba', ['abba', 'abaaba'], ['aba', 'abb']],
    ['*a?*?b', ['aaxxb', 'ab😀😀b'], ['axb', 'aab']],
    ['**/**/a/**', ['a', 'b/a', 'b/a/c'], ['ba']],
    ['a**b', ['ab', 'axb'], ['a/b']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
    ['[!a]x', ['bx'], ['ax', '/x', 'x']],
    ['[^a]', ['b'], ['a', '/']],
    ['*[!a][!a]', ['A😀😀😀', 'b😀'], ['ba']],
    ['b[!a]x', ['bbx'], ['bax', 'b/x']],
    ['[]a]', [']', 'a'], ['b']],
    ['[\\]\\w-]', [']', 'w', '-'], ['a', '\\']],
    ['[a', ['[a'], ['a']],
    ['{a,b}.ts', ['a.ts', 'b.ts'], ['c.ts', '{a,b}.ts']],
    ['{a,b{c,d}}', ['a', 'bc', 'bd'], ['b', 'c']],
    ['{src,test}/**/*.ts', ['src/a.ts', 'test/a/b.ts'], ['lib/a.ts']],
    ['{a/**,b}', ['a/c/d', 'b'], ['b/c']],
    ['{a}', ['{a}'], ['a']],
    ['{,a}b', ['b', 'ab'], ['a']],
    ['a,b', ['a,b'], ['a']],
    ['(a)|b+!@^$', ['(a)|b+!@^$'], ['a']],
    ['!a', ['!a'], ['b']],
    ['\\*\\[\\{\\\\', ['*[{\\'], ['a']],
  ]
  for (const [glob, yes, no] of globs) {
    for (const path of yes) assert.ok(globMatcher(glob)(path), `${glob} matches ${JSON.stringify(path)}`)
    for (const path of no) assert.ok(!globMatcher(glob)(path), `${glob} and ${JSON.stringify(path)}`)
  }
  assert.ok(globMatcher('SRC/*', { ignoreCase: true })('src/É'))
  assert.ok(!globMatcher('SRC/*')('src/a'))
})

test('globMatcher() rejects invalid globs', () => {
  assert.throws(() => globMatcher('[z-a]'), SyntaxError)
  assert.throws(() => globMatcher('[[:alpha:]]'), { message: '[[:alpha:] is a named class' })
  assert.throws(() => globMatcher('{a,b}'.repeat(5_000)), SyntaxError)
  assert.throws(() => globMatcher('a'.repeat(30_000)), { message: 'it is too long' })
  assert.throws(() => globMatcher(`{${'a,'.repeat(1_000)}}`), { message: 'more than 1000 alternatives' })
})

test('globMatcher() agrees with picomatch', () => {
  const part = fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '[^a]', '-')
  const segment = fc.oneof(
    { arbitrary: fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')), weight: 3 },
    { arbitrary: fc.constant('**'), weight: 1 },
    { arbitrary: fc.constantFrom('{a,b}', 'a{b,.a}'), weight: 1 },
  )
  const glob = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join('/'))
  const name = fc.string({ unit: fc.constantFrom(...'ab.-'), minLength: 1, maxLength: 3 })
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
  fc.assert(
    fc.property(glob, path, (pattern, text) => {
      // picomatch treats adjacent stars, . and .. differently
      fc.pre(!/\*\*\*|[^/\n]\*\*|\*\*[^/\n]|^(.*\/)?\.+(\/|$)/m.test(`${pattern}\n${text}`))
      fc.pre(!(/(^|\/)\*\.\*$/.test(pattern) && text.endsWith('.'))) // in a shell `*.*` matches `a.`; in picomatch it does not
      const oracle = (glob: string) => picomatch(glob, { dot: true, windows: false })(text)
      const folder = pattern.replace(/(\/\*\*)+$/, '') // here `x/**` also matches x itself, for any x
      assert.equal(globMatcher(pattern)(text), oracle(pattern) || oracle(folder))
    }),
    { numRuns: propertyRuns(3_000) },
  )
})

test('globMatcher() takes linear time for many stars', () => {
  const names = Array.from({ length: 200 }, () => 'a'.repeat(50)).join('/')
  for (const glob of [`${'**/*a*a*/'.repeat(50)}b`, `${'*a'.repeat(100)}*b`, `**/${'{*a,*b}'.repeat(6)}`]) {
    assert.ok(!globMatcher(`${glob}/c`)(names), glob)
    assert.ok(!globMatcher(glob)(`${'a'.repeat(5_000)}c`), glob)
  }
})

test('escapeGlob() makes a glob that matches just this text', () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom(...'ab*?[]{},\\!^-()|'), fc.string({ unit: 'grapheme', maxLength: 1 })),
  })
  fc.assert(
    fc.property(text, text, (one, other) => {
      fc.pre(!/^$|\//.test(one))
      const glob = escapeGlob(one)
      assert.ok(!hasGlob(glob))
      assert.equal(unescapeGlob(glob), one)
      assert.ok(globMatcher(glob)(one))
      assert.equal(globMatcher(glob)(other), one === other)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('hasGlob() finds unescaped wildcards', () => {
  for (const text of ['*', 'a?', '[a', '{a', '\\\\*', '\\*?']) assert.ok(hasGlob(text), text)
  for (const text of ['', 'a', '\\*', 'a\\?\\[b', '(a)', 'a}', 'a]']) assert.ok(!hasGlob(text), text)
})
