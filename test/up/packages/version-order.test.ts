import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compareVersions, isNpmVersion } from '../../../src/up/packages/version-order.ts'

/** From semver.org, section 11, in order. */
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
  fc.assert(fc.property(shuffled, (versions) => assert.deepEqual(versions.toSorted(compareVersions), ORDER)))
  assert.equal(compareVersions('1.0.0+one', '1.0.0+two'), 0)
})

test('isVersion() takes what npm takes, and nothing that is more than the name of a folder', () => {
  for (const version of ORDER) assert.ok(isNpmVersion(version), version)
  for (const version of [
    '1.0',
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
