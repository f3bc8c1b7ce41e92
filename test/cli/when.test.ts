import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseWhen, type SpanEnd } from '../../src/cli/when.ts'

const NOW = new Date(2026, 4, 31, 15, 30)

for (const [option, text, found] of [
  ['since', '2026-03-01', new Date(2026, 2, 1)],
  ['until', '2026-03-01', new Date(2026, 2, 2)],
  ['until', '2025-12-31', new Date(2026, 0, 1)],
  ['since', 'today', new Date(2026, 4, 31)],
  ['until', 'yesterday', new Date(2026, 4, 31)],
  ['since', 'yesterday', new Date(2026, 4, 30)],
  ['since', '2026-03-01T10:00', new Date(2026, 2, 1, 10)],
  ['since', '2026-03-01 10:00:05', new Date(2026, 2, 1, 10, 0, 5)],
  ['since', '2026-03-01T10:00:00.250Z', new Date('2026-03-01T10:00:00.250Z')],
  ['since', '2026-03-01T10:00+02:00', new Date('2026-03-01T08:00Z')],
  ['since', '30m', new Date(2026, 4, 31, 15)],
  ['since', '12h', new Date(2026, 4, 31, 3, 30)],
  ['since', '7d', new Date(2026, 4, 24, 15, 30)],
  ['since', '2 weeks ago', new Date(2026, 4, 17, 15, 30)],
  ['since', '3mo', new Date(2026, 1, 28, 15, 30)],
  ['since', '1y', new Date(2025, 4, 31, 15, 30)],
  ['until', '10Days', new Date(2026, 4, 21, 15, 30)],
] as const satisfies (readonly [SpanEnd, string, Date])[]) {
  test(`parseWhen() reads --${option} ${text}`, () => {
    assert.equal(parseWhen(option, text, NOW), found.toISOString())
  })
}

for (const text of [
  '',
  'soon',
  '2026-02-30',
  '2026-13-01',
  '7x',
  '7',
  'd',
  '1.5d',
  '-7d',
  '2026',
  '99999y99',
]) {
  test(`parseWhen() rejects "${text}"`, () => {
    assert.throws(() => parseWhen('since', text, NOW), { kind: 'usage', hint: /--since 7d$/ })
  })
}
