import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fileStems, foldStem } from '../../../../src/core/memory/tree/file-stems.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

test('fileStems() keeps names that every file system accepts', () => {
  const names = [
    'deploy',
    'prod rollout',
    'v1.2',
    'get_user-name',
    '螃蟹',
    'Größe',
    'a+b, c@d',
    'consul',
    '01KABC-3',
  ]
  assert.deepEqual(fileStems(names), names)
})

test('fileStems() changes names that some system rejects, or that a link would have to escape', () => {
  const changed: [string, string][] = [
    ['ci/cd', 'ci-cd'],
    ['a\\b:c*?"<>|d', 'a-b-c-d'],
    ['(x) [y] #1 100%', '-x- -y- -1 100-'],
    ['.hidden', 'hidden'],
    ['..', 'entry'],
    ['ends. ', 'ends'],
    ['', 'entry'],
    ['???', '-'],
    ['con', '_con'],
    ['LPT1.txt', '_LPT1.txt'],
    ['README', '_README'],
    ['a\nb\u0000c', 'a-b-c'],
    ['Cafe\u0301', 'Café'],
  ]
  for (const [name, stem] of changed) assert.deepEqual(fileStems([name]), [stem], JSON.stringify(name))
})

test('fileStems() gives two names different files, also where upper and lower case are one', () => {
  const names = ['a', 'A', 'a/b', 'a-b', 'A-B', 'Straße', 'STRASSE', 'Café', 'Cafe\u0301', 'a-2']
  const stems = ['a', 'A-2', 'a-b', 'a-b-2', 'A-B-3', 'Straße', 'STRASSE-2', 'Café', 'Café-2', 'a-2-2']
  assert.deepEqual(fileStems(names), stems)
})

test('fileStems() returns different and safe files for any names', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.constantFrom('aux', 'NUL', ' ', '-', 'ı', 'İ'),
  )
  fc.assert(
    fc.property(fc.array(name, { maxLength: 20 }), (names) => {
      const stems = fileStems(names)
      assert.equal(new Set(stems.map(foldStem)).size, names.length)
      for (const stem of stems) {
        assert.match(stem, /^[\p{L}\p{M}\p{N}_+@,-][\p{L}\p{M}\p{N} ._+@,-]*$/u)
        assert.doesNotMatch(stem, /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|[ .]$/i)
        assert.ok(Buffer.byteLength(`${stem}.md`) <= 200, stem)
      }
    }),
    { numRuns: propertyRuns(150) },
  )
})
