import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toPathFilter } from '../../../../src/core/hooks/search/target.ts'

test('toPathFilter() matches names in any folder without a slash, and paths with one', () => {
  const cases: [glob: string, yes: string[], no: string[]][] = [
    ['*.ts', ['a.ts', 'src/a.ts', '.a.ts'], ['a.tsx', 'a.ts/b']],
    ['src/*.ts', ['src/a.ts'], ['a.ts', 'src/b/a.ts', 'x/src/a.ts']],
    ['/a.ts', ['a.ts'], ['src/a.ts']],
    ['**/a.ts', ['a.ts', 'x/y/a.ts'], ['b.ts']],
    ['src/**', ['src/a', 'src/b/c'], ['a', 'lib/src/a']],
    ['src/', ['src/a', 'src/b/c'], ['a']],
    ['./src/*', ['src/a'], ['b']],
    ['/root/src/*', ['src/a'], ['root/src/a']],
    ['{src,test}/**/*.{ts,js}', ['src/a.ts', 'test/x/b.js'], ['lib/a.ts', 'src/a.md']],
    ['!*.ts', ['a.js', 'src/a.js'], ['a.ts', 'src/a.ts']],
    ['!src/**', ['a.ts'], ['src/a.ts']],
    ['[ab].ts', ['a.ts', 'x/b.ts'], ['c.ts']],
    ['a\\[1\\].ts', ['a[1].ts'], ['a1.ts']],
  ]
  for (const [glob, yes, no] of cases) {
    const { matches } = toPathFilter(glob, '/root')
    for (const path of yes) assert.ok(matches(path), `${glob} matches ${path}`)
    for (const path of no) assert.ok(!matches(path), `${glob} does not match ${path}`)
  }
})

test('toPathFilter() returns a glob of names only where ripgrep means the same by it', () => {
  const nameGlob = (glob: string) => toPathFilter(glob, '/root').nameGlob
  assert.deepEqual(['*.ts', 'src/**/*.{ts,tsx}', '/a.ts'].map(nameGlob), ['*.ts', '*.{ts,tsx}', 'a.ts'])
  const unsure = [
    'src/**',
    '*',
    '!*.ts',
    'a?.ts',
    '[ab].ts',
    'a{b/c,d}.ts',
    '{a}',
    'a b',
    'a\\*',
    '{1..3}',
    'src/',
  ]
  assert.deepEqual(
    unsure.filter((glob) => nameGlob(glob) !== undefined),
    [],
  )
})

test('toPathFilter() takes linear time for many stars', () => {
  const { matches } = toPathFilter('**/*a*a*/**/*a*a*/**/*a*a*/b', '/root')
  assert.ok(!matches(`${`${'a'.repeat(69)}/`.repeat(3)}c`))
  assert.ok(matches('x/aa/aa/x/aa/b'))
})

test('toPathFilter() throws `invalid` for invalid globs and for paths outside the root', () => {
  for (const glob of ['', '!', './', '../*.ts', 'a/../../b', '[z-a]']) {
    assert.throws(
      () => toPathFilter(glob, '/root'),
      { kind: 'invalid', message: /^Cannot use the glob / },
      glob,
    )
  }
})
