import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import picomatch from 'picomatch'
import { escapeGlob, globToRegExp, hasGlob, unescapeGlob } from '../../../src/core/base/glob.ts'

test('globToRegExp() matches as a shell does', () => {
  const globs: [glob: string, yes: string[], no: string[]][] = [
    ['*', ['a', '.a', 'a b', 'a\nb'], ['', 'a/b']],
    ['*.ts', ['a.ts', '.ts'], ['a.tsx', 'a/b.ts', 'ts']],
    ['a?c', ['abc', 'a😀c', 'a.c'], ['ac', 'a/c', 'abbc']],
    ['**', ['', 'a', 'a/b/.c', 'a\nb/c'], []],
    ['src/**', ['src', 'src/a', 'src/a/b'], ['srcx', 'a/src']],
    ['**/x', ['x', 'a/x', '.a/b/x'], ['ax', 'x/a']],
    ['a/**/b', ['a/b', 'a/c/b', 'a/c/d/b'], ['ab', 'a/b/c']],
    ['**/**/a/**', ['a', 'b/a', 'b/a/c'], ['ba']],
    ['a**b', ['ab', 'axb'], ['a/b']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
    ['[!a]x', ['bx'], ['ax', '/x', 'x']],
    ['[^a]', ['b'], ['a', '/']],
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
    for (const path of yes)
      assert.ok(globToRegExp(glob).test(path), `${glob} matches ${JSON.stringify(path)}`)
    for (const path of no) assert.ok(!globToRegExp(glob).test(path), `${glob} and ${JSON.stringify(path)}`)
  }
  assert.ok(globToRegExp('SRC/*', { ignoreCase: true }).test('src/É'))
  assert.ok(!globToRegExp('SRC/*').test('src/a'))
})

test('globToRegExp() refuses what is no glob', () => {
  assert.throws(() => globToRegExp('[z-a]'), SyntaxError)
  assert.throws(() => globToRegExp('[[:alpha:]]'), { message: '[[:alpha:] is a named class' })
  assert.throws(() => globToRegExp('{a,b}'.repeat(12)), { message: 'more than 1000 alternatives' })
})

test('globToRegExp() agrees with picomatch', () => {
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
      // picomatch has its own view of stars that touch, and of . and ..
      fc.pre(!/\*\*\*|[^/\n]\*\*|\*\*[^/\n]|^(.*\/)?\.+(\/|$)/m.test(`${pattern}\n${text}`))
      const oracle = (glob: string) => picomatch(glob, { dot: true, windows: false })(text)
      const folder = pattern.replace(/(\/\*\*)+$/, '') // to us `x/**` is also x itself, whatever x is
      assert.equal(globToRegExp(pattern).test(text), oracle(pattern) || oracle(folder))
    }),
    { numRuns: 3_000 },
  )
})

test('escapeGlob() makes a glob of a text that matches just this text', () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom(...'ab*?[]{},\\!^-()|'), fc.string({ unit: 'grapheme', maxLength: 1 })),
  })
  fc.assert(
    fc.property(text, text, (one, other) => {
      fc.pre(!/^$|\//.test(one))
      const glob = escapeGlob(one)
      assert.ok(!hasGlob(glob))
      assert.equal(unescapeGlob(glob), one)
      assert.ok(globToRegExp(glob).test(one))
      assert.equal(globToRegExp(glob).test(other), one === other)
    }),
  )
})

test('hasGlob() sees what is not escaped', () => {
  for (const text of ['*', 'a?', '[a', '{a', '\\\\*', '\\*?']) assert.ok(hasGlob(text), text)
  for (const text of ['', 'a', '\\*', 'a\\?\\[b', '(a)', 'a}', 'a]']) assert.ok(!hasGlob(text), text)
})
