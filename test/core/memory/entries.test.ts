import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addEntry,
  findFreeName,
  findMemoryEntry,
  type NewMemoryEntry,
} from '../../../src/core/memory/entries.ts'
import { EMPTY_MEMORY } from '../../../src/core/memory/types.ts'

test('findMemoryEntry() finds by name and by alias', () => {
  const memory = addEntry(EMPTY_MEMORY, entry('s-1', ['The plan']))
  assert.equal(findMemoryEntry(memory, 'The plan')?.name, 's-1')
  assert.equal(findMemoryEntry(memory, 's-1')?.name, 's-1')
  assert.equal(findMemoryEntry(memory, 'the plan'), undefined)
})

test('addEntry() assigns sequential ids and never reuses one', () => {
  const first = addEntry(EMPTY_MEMORY, entry('a'))
  const second = addEntry(first, entry('b'))
  assert.deepEqual([second.nextId, second.entries.map(({ id }) => id)], [3n, [1n, 2n]])
  const damaged = addEntry({ ...second, nextId: 1n }, entry('c'))
  assert.deepEqual([damaged.nextId, damaged.entries.at(-1)?.id], [4n, 3n])
})

test('addEntry() rejects a name or alias that another entry has as name or alias', () => {
  const memory = addEntry(EMPTY_MEMORY, entry('a', ['b']))
  for (const clash of [entry('a'), entry('b'), entry('c', ['a']), entry('c', ['b'])]) {
    assert.throws(() => addEntry(memory, clash), { kind: 'conflict' })
  }
})

test('findFreeName() counts up to the first free name', () => {
  const memory = addEntry(addEntry(EMPTY_MEMORY, entry('Plan')), entry('x', ['Plan (2)']))
  assert.deepEqual([findFreeName(memory, 'Plan'), findFreeName(memory, 'Other')], ['Plan (3)', 'Other'])
})

function entry(name: string, aliases: string[] = []): NewMemoryEntry {
  return { createdAt: 1n, kind: 'archive', name, content: '', aliases }
}
