import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromIsoTime, toIsoTime } from '../../../src/core/memory/time.ts'

/** Seconds since 1970, with their text. */
const TIMES: readonly [seconds: bigint, text: string][] = [
  [0n, '1970-01-01T00:00:00Z'],
  [1_795_305_600n, '2026-11-22T00:00:00Z'],
  [253_402_300_800n, '+010000-01-01T00:00:00Z'],
  [8_640_000_000_000n, '+275760-09-13T00:00:00Z'],
  [8_640_000_000_001n, '@8640000000001'],
  [2n ** 64n - 1n, '@18446744073709551615'],
]

for (const [seconds, text] of TIMES) {
  test(`toIsoTime() and fromIsoTime() convert ${seconds} to ${text} and back`, () => {
    assert.equal(toIsoTime(seconds), text)
    assert.equal(fromIsoTime(text), seconds)
  })
}

test('fromIsoTime() accepts dates, fractions and zones of ISO 8601', () => {
  assert.equal(fromIsoTime('2026-11-22'), 1_795_305_600n)
  assert.equal(fromIsoTime('2026-11-22T00:00:00.999Z'), 1_795_305_600n)
  assert.equal(fromIsoTime('2026-11-22T02:00:00+02:00'), 1_795_305_600n)
})

test('fromIsoTime() is undefined for an invalid time, for one before 1970 and for more than 64 bits', () => {
  for (const text of [
    '',
    'now',
    '1',
    'Nov 22 2026',
    '2026-13-01',
    '1969-12-31T23:59:59Z',
    '@',
    '@-1',
    '@1.5',
  ])
    assert.equal(fromIsoTime(text), undefined, text)
  assert.equal(fromIsoTime(`@${2n ** 64n}`), undefined)
})
