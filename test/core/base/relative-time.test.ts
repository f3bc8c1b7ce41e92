import assert from 'node:assert/strict'
import { test } from 'node:test'
import { relativeTime } from '../../../src/core/base/relative-time.ts'

const NOW = Date.parse('2026-06-01T12:00:00Z')
const AGES: Record<string, string> = {
  '2026-06-01T12:00:00Z': 'now',
  '2026-06-01T12:00:30Z': 'now',
  '2026-06-01T11:59:56Z': 'now',
  '2026-06-01T11:59:55Z': '5s ago',
  '2026-06-01T11:59:01Z': '59s ago',
  '2026-06-01T11:59:00Z': '1m ago',
  '2026-06-01T10:00:01Z': '1h ago',
  '2026-05-30T12:00:00Z': '2d ago',
  '2026-04-01T12:00:00Z': '2mo ago',
  '2024-06-01T12:00:00Z': '2y ago',
}

for (const [then, age] of Object.entries(AGES)) {
  test(`relativeTime() calls ${then} ${age}`, () => assert.equal(relativeTime(then, NOW), age))
}

test('relativeTime() returns an invalid time as it is', () => {
  assert.equal(relativeTime('yesterday', NOW), 'yesterday')
})
