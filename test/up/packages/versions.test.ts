import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import valid from 'semver/functions/valid.js'
import { isNpmVersion } from '../../../src/up/packages/npm-version.ts'
import { compareVersions, isInRange } from '../../../src/up/packages/versions.ts'
import { propertyRuns } from '../../support/property-runs.ts'

/** The order of versions from semver.org, section 11. */
const ORDER = [
  ...[
    '0.9.0',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
  ],
  ...['1.0.0-rc.1', '1.0.0', '1.0.1', '1.2.0', '1.10.0', '2.0.0'],
]

test('compareVersions() orders as semver does', () => {
  const shuffled = fc.shuffledSubarray(ORDER, { minLength: ORDER.length })
  fc.assert(
    fc.property(shuffled, (versions) => assert.deepEqual(versions.toSorted(compareVersions), ORDER)),
    { numRuns: propertyRuns(1_000) },
  )
  assert.equal(compareVersions('1.0.0+one', '1.0.0+two'), 0)
})

test('isNpmVersion() accepts what npm accepts, if it can be the name of a folder', () => {
  for (const version of ORDER) assert.ok(isNpmVersion(version), version)
  for (const version of [
    '1.0',
    'v1.0.0',
    '=1.0.0',
    '01.0.0',
    '1.0.0-01',
    '1.0.0\n',
    '1.0.0/..',
    '../1.0.0',
    '1.0.0 ',
    'latest',
    '1.0.0-a b',
    '',
    `1.0.0-${'a'.repeat(200)}`,
  ]) {
    assert.ok(!isNpmVersion(version), version)
  }
})

test('isNpmVersion() rejects texts that cannot be compared', () => {
  const piece = fc.constantFrom(
    '0',
    '1',
    '01',
    '10',
    '.',
    '-',
    '+',
    'rc',
    'a',
    '-1',
    '9'.repeat(16),
    ' ',
    'v',
  )
  const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
  const version = fc.oneof(
    text,
    text.map((end) => `1.0.0-${end}`),
    text.map((end) => `1.2${end}`),
  )
  fc.assert(
    fc.property(version, (one) =>
      assert.equal(isNpmVersion(one), valid(one) !== null && /^\d\S*$/.test(one)),
    ),
    { numRuns: propertyRuns(2_000) },
  )
})

const ROWS: readonly (readonly [range: string, inside: string, outside: string])[] = [
  ['>=20', 'v20.0.0 v26.10.0', 'v18.20.4 v19.9.9'],
  ['>= 18.17.0 < 23', '18.17.0 22.99.0', '18.16.9 23.0.0'],
  ['^20.19.0 || >=22.12.0', '20.19.0 20.99.0 22.12.0 24.0.0', '20.18.9 21.0.0 22.11.9'],
  ['18 || 20.x || 22.*', '18.4.0 20.1.2 22.0.0', '19.0.0 23.0.0'],
  ['~20.1', '20.1.0 20.1.9', '20.0.9 20.2.0'],
  ['~20', '20.0.0 20.9.0', '19.9.9 21.0.0'],
  ['^0.12.3', '0.12.3 0.12.9', '0.12.2 0.13.0'],
  ['^0.0.3', '0.0.3', '0.0.4'],
  ['^0', '0.9.9', '1.0.0'],
  ['18 - 20', '18.0.0 20.99.99', '17.9.9 21.0.0'],
  ['18.1.0 - 20.2', '18.1.0 20.2.9', '18.0.9 20.3.0'],
  ['>20', '21.0.0', '20.99.0'],
  ['>20.1', '20.2.0', '20.1.9'],
  ['<=20', '20.99.0', '21.0.0'],
  ['=20.1.0', 'v20.1.0', '20.1.1'],
  ['v20.1.0', '20.1.0', '20.1.1'],
  ['>=22.0.0-0', '22.0.0', '21.0.0'],
  ['*', '0.1.0 26.0.0', ''],
  ['', '18.0.0', ''],
  ['<*', '', '18.0.0'],
  ['>*', '', '18.0.0'],
]

test('isInRange() reads ranges as npm does', () => {
  for (const [range, inside, outside] of ROWS) {
    for (const version of words(inside))
      assert.equal(isInRange(version, range), true, `${version} in ${range}`)
    for (const version of words(outside))
      assert.equal(isInRange(version, range), false, `${version} in ${range}`)
  }
})

test('isInRange() returns undefined for ranges it cannot read', () => {
  for (const range of ['lts/*', 'node 20', '>=20,<22', '20.1.2.3', '|', '>=twenty', '20 - ']) {
    assert.equal(isInRange('v20.0.0', range), undefined, range)
  }
  assert.equal(isInRange('twenty', '>=20'), undefined)
  assert.equal(isInRange('v20', '>=20'), undefined)
  assert.equal(isInRange('v22.0.0-nightly2026', '>=22'), true)
  assert.equal(isInRange('v22.0.0-rc.1', '<22'), false)
})

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '')
}
