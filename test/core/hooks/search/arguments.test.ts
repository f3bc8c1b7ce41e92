import assert from 'node:assert/strict'
import { test } from 'node:test'
import { globArguments, grepArguments } from '../../../../src/core/hooks/search/arguments.ts'

test('grepArguments() fills in missing and null values', () => {
  const expected = {
    pattern: 'x',
    path: '.',
    glob: undefined,
    ignoreCase: false,
    context: 0,
    mode: 'content',
  }
  assert.deepEqual(grepArguments({ pattern: 'x' }), expected)
  const nulls = { path: null, glob: null, ignoreCase: null, context: null, mode: null }
  assert.deepEqual(grepArguments({ pattern: 'x', ...nulls }), expected)
})

test('grepArguments() accepts numbers as text, and the names of other tools', () => {
  const args = {
    pattern: 'x',
    path: '',
    include: '*.ts',
    '-i': 'true',
    '-C': '3',
    output_mode: 'files_with_matches',
  }
  const expected = { pattern: 'x', path: '.', glob: '*.ts', ignoreCase: true, context: 3, mode: 'files' }
  assert.deepEqual(grepArguments(args), expected)
})

test('grepArguments() limits the context of a match to 20 lines', () => {
  assert.equal(grepArguments({ pattern: 'x', context: 1000 }).context, 20)
})

test('grepArguments() and globArguments() reject invalid values, naming the field', () => {
  const cases: [object, RegExp][] = [
    [{}, /pattern is missing/],
    [{ pattern: '' }, /pattern is missing/],
    [{ pattern: 1 }, /pattern must be a string/],
    [{ pattern: 'a\0' }, /pattern has a NUL/],
    [{ pattern: 'a\nb' }, /line break/],
    [{ pattern: 'a\\nb' }, /line break/],
    [{ pattern: 'x', path: ['a'] }, /path must be a string/],
    [{ pattern: 'x', path: 'a\0' }, /path has a NUL/],
    [{ pattern: 'x', glob: 1 }, /glob must be a string/],
    [{ pattern: 'x', context: -1 }, /context must be/],
    [{ pattern: 'x', context: 'many' }, /context must be/],
    [{ pattern: 'x', mode: 'all' }, /mode must be content, files or count/],
    [{ pattern: 'x', ignoreCase: 'yes' }, /ignoreCase must be true or false/],
  ]
  for (const [args, message] of cases)
    assert.throws(() => grepArguments({ ...args }), { kind: 'invalid', message })
  assert.throws(() => globArguments({}), { kind: 'invalid', message: 'Cannot run glob: pattern is missing' })
})

test('grepArguments() keeps a backslash before an n', () => {
  assert.equal(grepArguments({ pattern: 'a\\\\nb' }).pattern, 'a\\\\nb')
})

test('globArguments() takes the folder from the start of a pattern', () => {
  assert.deepEqual(globArguments({ pattern: '*.ts' }), { pattern: '*.ts', path: '.' })
  assert.deepEqual(globArguments({ pattern: 'src/**', path: 'a' }), { pattern: 'src/**', path: 'a' })
  assert.deepEqual(globArguments({ pattern: '/a/b/**/*.ts', path: 'c' }), {
    pattern: '/**/*.ts',
    path: '/a/b/',
  })
  assert.deepEqual(globArguments({ pattern: '/a/\\[id\\]/x.ts' }), { pattern: '/x.ts', path: '/a/[id]/' })
  assert.deepEqual(globArguments({ pattern: '/*' }), { pattern: '/*', path: '/' })
  assert.deepEqual(globArguments({ pattern: '~/notes/*.md' }), { pattern: '/*.md', path: '~/notes/' })
  assert.deepEqual(globArguments({ pattern: '../../*.md', path: 'a' }), {
    pattern: '/*.md',
    path: 'a/../../',
  })
})
