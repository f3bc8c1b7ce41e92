import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { replaceEntries } from '../../../src/core/memory/entries.ts'
import { MemoryIndex } from '../../../src/core/memory/memory-index.ts'
import { applyOp, type Op } from '../../../src/core/memory/ops.ts'
import { rememberOp } from '../../../src/core/memory/remember.ts'
import { EMPTY_MEMORY, type Memory, type MemoryEntry } from '../../../src/core/memory/types.ts'
import { NO_OFFSET } from '../../../src/core/search/types.ts'
import { BruteForce } from '../../support/brute-force.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('search() finds words of names, aliases and contents, and ranks by BM25', () => {
  const index = new MemoryIndex()
  const memory = remembered(
    ['deploy', 'how the rollout is done', ['ship']],
    ['coffee', 'beans of the rollout party', []],
    ['rollout', 'rollout rollout', []],
  )
  assert.deepEqual(find(index, memory, 'rollout'), ['rollout', 'coffee', 'deploy'])
  assert.deepEqual(find(index, memory, 'ship'), ['deploy'])
  assert.deepEqual(find(index, memory, 'nothing'), [])
  assert.deepEqual(find(index, EMPTY_MEMORY, 'rollout'), [])
})

test('search() finds only accepted entries, up to the limit', () => {
  const index = new MemoryIndex()
  const memory = remembered(['a', 'word', []], ['b', 'word', []], ['c', 'word', []])
  const accepts = ({ name }: MemoryEntry) => name !== 'c'
  const names = index.search(memory, { query: 'word', limit: 1, accepts }).map(({ entry }) => entry.name)
  assert.deepEqual(names, ['b'])
})

test('search() ranks equal entries by age, then by id, whatever their history', () => {
  const old = { ...makeEntry(0n, 'old', 'word'), createdAt: 1n }
  const young = { ...makeEntry(0n, 'young', 'word'), createdAt: 2n }
  const later = { ...makeEntry(0n, 'later', 'word'), createdAt: 1n }
  const memory = replaceEntries(EMPTY_MEMORY, [young, old, later])
  const index = new MemoryIndex()
  find(index, { ...memory, entries: memory.entries.map((entry) => ({ ...entry, createdAt: 9n })) }, 'word')
  assert.deepEqual(find(index, memory, 'word'), ['young', 'later', 'old'])
  assert.deepEqual(find(new MemoryIndex(), memory, 'word'), ['young', 'later', 'old'])
})

test('search() accepts a memory whose file is not sorted', () => {
  const entries = [
    makeEntry(5n, 'five', 'word'),
    makeEntry(2n, 'two', 'word'),
    makeEntry(9n, 'nine', 'other'),
  ]
  const index = new MemoryIndex()
  assert.deepEqual(find(index, { nextId: 10n, entries }, 'word'), ['five', 'two'])
  assert.deepEqual(find(index, { nextId: 10n, entries: entries.slice(1) }, 'word'), ['two'])
})

test('search() matches a new index, and brute force, after any changes', () => {
  const word = fc.constantFrom('crab', 'sand', 'tide', 'shell', 'moon', 'wave')
  const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '))
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
  const change: fc.Arbitrary<(memory: Memory) => Memory> = fc.oneof(
    fc.tuple(name, text).map(
      ([one, content]) =>
        (memory: Memory) =>
          say(memory, one, content),
    ),
    name.map((one) => (memory: Memory) => tried(memory, { op: 'remove', name: one })),
    fc.tuple(name, word).map(([one, other]) => (memory: Memory) => {
      return tried(memory, { op: 'alias', name: one, add: [other], remove: [] })
    }),
    fc.constant((memory: Memory) => structuredClone(memory)), // as it is when another process wrote
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(change, text), { maxLength: 40 }), (steps) => {
      const index = new MemoryIndex()
      let memory = EMPTY_MEMORY
      for (const [change, query] of steps) {
        memory = change(memory)
        const found = index.search(memory, { query, limit: 4 })
        assert.deepEqual(found, bruteForce(memory, query))
        assert.deepEqual(found, new MemoryIndex().search(memory, { query, limit: 4 }))
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('search() forgets removed entries, however often a memory changes', () => {
  const index = new MemoryIndex()
  let memory = EMPTY_MEMORY
  for (let n = 0; n < 1500; n++) {
    memory = say(memory, 'counter', toWord(n))
    assert.deepEqual(find(index, memory, toWord(n)), ['counter'])
    assert.deepEqual(find(index, memory, toWord(n - 1)), [])
  }
})

/** Returns a different word for every number, of letters only. */
function toWord(n: number): string {
  return [...`${n + 10}`].map((digit) => 'abcdefghij'[Number(digit)]).join('x')
}

function remembered(...entries: [name: string, content: string, aliases: string[]][]): Memory {
  return entries.reduce(
    (memory, [name, content, aliases]) => say(memory, name, content, aliases),
    EMPTY_MEMORY,
  )
}

function say(memory: Memory, name: string, content: string, aliases: string[] = []): Memory {
  return applyOp(memory, rememberOp({ name, content, aliases, now: 5000 })(memory)).memory
}

function tried(memory: Memory, op: Op): Memory {
  try {
    return applyOp(memory, op).memory
  } catch {
    return memory // the entry is missing or the name is taken: the search does not change
  }
}

function makeEntry(id: bigint, name: string, content: string): MemoryEntry {
  return { id, createdAt: 1n, kind: 'note', name, content, aliases: [] }
}

function find(index: MemoryIndex, memory: Memory, query: string): string[] {
  return index.search(memory, { query, limit: 10 }).map(({ entry }) => entry.name)
}

function bruteForce({ entries }: Memory, query: string) {
  const documents = entries.map(({ id, name, aliases, content, createdAt }) => {
    const row = {
      group: Number(id),
      kind: 0,
      seq: Number(id),
      offset: NO_OFFSET,
      time: Number(createdAt) * 1000,
    }
    return { row, text: [name, ...aliases, content].join(' ') }
  })
  const hits = new BruteForce(documents).search({ text: query, limit: 4 })
  return hits.map(({ seq, score }) => ({ entry: entries.find(({ id }) => id === BigInt(seq)), score }))
}
