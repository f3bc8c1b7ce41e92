import assert from 'node:assert/strict'
import { test } from 'node:test'
import { showEntry } from '../../../../src/core/hooks/memory/run-memory-tool.ts'
import type { MemoryEntry } from '../../../../src/core/memory/types.ts'

test('showEntry() shows the full date of an entry, also outside the calendar', () => {
  const entry: MemoryEntry = { id: 1n, createdAt: 0n, kind: 'note', name: 'a', content: 'b', aliases: [] }
  const days = [0n, 1_767_225_600n, 253_402_300_800n, 8_640_000_000_000n, 12_346_056_123_456n, 2n ** 64n - 1n]
  assert.deepEqual(
    days.map((createdAt) => showEntry({ ...entry, createdAt })),
    [
      '1970-01-01',
      '2026-01-01',
      '+010000-01-01',
      '+275760-09-13',
      '@12346056123456',
      '@18446744073709551615',
    ].map((day) => `[a] note of ${day}\nb`),
  )
})
