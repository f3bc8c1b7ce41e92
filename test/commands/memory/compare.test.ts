import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeDifference, diffMemories } from '../../../src/commands/memory/tree.ts'
import { type DeepPartial, MemoryEntry, MemoryKind } from '../../../src/core/protocol/crabtalk.generated.ts'

test('diffMemories() lists added, changed and removed entries in any order and with any ids', () => {
  const before = ['same', 'text', 'aliases', 'kind', 'time', 'gone'].map((name, index) =>
    entry({ name, id: index + 1 }),
  )
  const after = [
    entry({ name: 'new' }),
    entry({ name: 'kind', kind: MemoryKind.ARCHIVE }),
    entry({ name: 'aliases', aliases: ['a'] }),
    entry({ name: 'text', content: 'other' }),
    entry({ name: 'time', createdAt: '2020-01-01T00:00:00Z' }),
    entry({ name: 'same', createdAt: '' }),
  ]
  const difference = diffMemories(before, after)
  assert.deepEqual(difference, {
    added: ['new'],
    changed: ['kind', 'aliases', 'text', 'time'],
    removed: ['gone'],
  })
  assert.equal(describeDifference(difference), '1 removed, 4 changed, 1 new')
})

test('diffMemories() ignores the order of aliases', () => {
  const before = [entry({ name: 'x', aliases: ['a', 'b'] })]
  const difference = diffMemories(before, [entry({ name: 'x', aliases: ['b', 'a'] })])
  assert.deepEqual(difference, { added: [], changed: [], removed: [] })
  assert.equal(describeDifference(difference), 'nothing changes')
})

function entry(more: DeepPartial<MemoryEntry>): MemoryEntry {
  return MemoryEntry.fromPartial({ content: 'text', createdAt: '2026-01-01T00:00:00Z', ...more })
}
