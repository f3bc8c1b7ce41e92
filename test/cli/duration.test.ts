import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCount, parseDuration } from '../../src/cli/duration.ts'

const DURATIONS: Record<string, number> = {
  '0': 0,
  '30': 30_000,
  '1.5': 1_500,
  '30s': 30_000,
  '10m': 600_000,
  '1h': 3_600_000,
  '250ms': 250,
  '2 minutes': 120_000,
  '0s': 0,
  '365d': 2 ** 31 - 1,
}

for (const [text, milliseconds] of Object.entries(DURATIONS)) {
  test(`parseDuration() reads ${text}`, () => assert.equal(parseDuration('timeout', text), milliseconds))
}

for (const text of [
  '',
  ' ',
  'soon',
  '-5',
  '-5s',
  '1h30m',
  '5 parsecs',
  'NaN',
  'Infinity',
  '1e3',
  's',
  `${'1'.repeat(200)}s`,
]) {
  test(`parseDuration() rejects ${JSON.stringify(text.slice(0, 20))}`, () => {
    assert.throws(() => parseDuration('timeout', text), {
      name: 'CrabError',
      kind: 'usage',
      message: `Cannot use --timeout ${text}: it is not a duration`,
      hint: 'for example --timeout 30s',
    })
  })
}

test('parseCount() reads whole numbers from its minimum', () => {
  assert.deepEqual(
    ['0', '7', '007'].map((text) => parseCount('limit', text)),
    [0, 7, 7],
  )
  assert.equal(parseCount('max-turns', '1', 1), 1)
})

for (const text of ['', '-1', '1.5', '1e3', '0x10', 'ten', ' 1', '1 ', '٣', '9'.repeat(17)]) {
  test(`parseCount() rejects ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseCount('limit', text), { kind: 'usage', hint: 'for example --limit 3' })
  })
}

test('parseCount() rejects numbers below its minimum', () => {
  assert.throws(() => parseCount('max-turns', '0', 1), {
    kind: 'usage',
    message: /must be a whole number, 1 or more$/,
  })
})
