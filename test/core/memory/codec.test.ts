import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeMemory } from '../../../src/core/memory/decode.ts'
import { encodeMemory } from '../../../src/core/memory/encode.ts'
import { EMPTY_MEMORY, type Memory, type MemoryEntry } from '../../../src/core/memory/types.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { VECTORS } from './vectors.ts'

const at = (id: bigint) => 1_745_000_000n + id
const GOLDEN: Record<keyof typeof VECTORS, Memory> = {
  empty: EMPTY_MEMORY,
  knownGood: {
    nextId: 2n,
    entries: [
      {
        id: 1n,
        createdAt: 0x1122334455667788n,
        kind: 'archive',
        name: 'hi',
        content: 'yo',
        aliases: ['hey'],
      },
    ],
  },
  threeEntries: {
    nextId: 8n,
    entries: [
      {
        ...{ id: 3n, createdAt: at(3n), kind: 'note', name: 'deploy', content: 'prod rollout' },
        aliases: ['ship', 'release'],
      },
      {
        ...{ id: 5n, createdAt: at(5n), kind: 'note', name: '螃蟹', content: 'crabs all the way 🦀' },
        aliases: ['カニ'],
      },
      { id: 7n, createdAt: at(7n), kind: 'topic', name: 'topic-x', content: '', aliases: [] },
    ],
  },
}

for (const [name, memory] of Object.entries(GOLDEN)) {
  const hex = VECTORS[name as keyof typeof VECTORS]
  test(`encodeMemory() and decodeMemory() match the reference on ${name}, byte for byte`, () => {
    assert.equal(encodeMemory(memory).bytes.toString('hex'), hex)
    assert.deepEqual(decodeMemory(Buffer.from(hex, 'hex')).memory, memory)
  })
}

test('encodeMemory() sorts entries by id', () => {
  const { nextId, entries } = GOLDEN.threeEntries
  const { bytes } = encodeMemory({ nextId, entries: entries.toReversed() })
  assert.equal(bytes.toString('hex'), VECTORS.threeEntries)
})

const good = Buffer.from(VECTORS.knownGood, 'hex')
const MALFORMED: Record<string, [Buffer, RegExp]> = {
  'nothing at all': [Buffer.alloc(0), /truncated/],
  'the magic alone': [Buffer.from('CRMEM\0'), /truncated/],
  'another magic': [patched(0, 0x44), /does not start/],
  'version 99': [patched(6, 99), /version 99/],
  'flags 1': [patched(10, 1), /flags 1/],
  'the header only': [good.subarray(0, 16), /truncated/],
  'an unknown kind': [patched(44, 3), /kind 3/],
  'text that is not UTF-8': [patched(52, 0xff), /UTF-8/],
  'bytes after the last entry': [Buffer.concat([good, Buffer.from([0])]), /follow/],
  'a count that no file holds': [patched(27, 0xff), /truncated/],
  'a length that no file holds': [patched(51, 0xff), /truncated/],
}

for (const [what, [bytes, why]] of Object.entries(MALFORMED)) {
  test(`decodeMemory() rejects ${what}`, () => {
    assert.throws(() => decodeMemory(bytes), { name: 'CrabError', kind: 'invalid', message: why })
  })
}

test('decodeMemory() rejects every truncated file', () => {
  for (let length = 0; length < good.length; length++) {
    assert.throws(() => decodeMemory(good.subarray(0, length)), { kind: 'invalid' })
  }
})

test('decodeMemory() reverses encodeMemory()', () => {
  const text = fc.string({ unit: 'binary' })
  const u64 = fc.bigInt(0n, 2n ** 64n - 1n)
  const entry = fc.record<MemoryEntry>(
    {
      id: u64,
      createdAt: u64,
      kind: fc.constantFrom('note', 'archive', 'topic'),
      name: text,
      content: text,
      aliases: fc.array(text, { maxLength: 3 }),
    },
    { noNullPrototype: true },
  )
  const entries = fc.uniqueArray(entry, { selector: ({ id }) => id, maxLength: 6 })
  fc.assert(
    fc.property(u64, entries, (nextId, given) => {
      const sorted = given.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      assert.deepEqual(decodeMemory(encodeMemory({ nextId, entries: given }).bytes).memory, {
        nextId,
        entries: sorted,
      })
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('encodeMemory() with the previous file writes the same bytes as without it', () => {
  const entry = (id: number, text: string): MemoryEntry => {
    return { id: BigInt(id), createdAt: 1n, kind: 'note', name: `${id}`, content: text, aliases: [text] }
  }
  const texts = fc.dictionary(fc.nat(12).map(String), fc.string({ unit: 'binary', maxLength: 4 }), {
    noNullPrototype: true,
  })
  fc.assert(
    fc.property(fc.array(texts, { maxLength: 6 }), (versions) => {
      let before = encodeMemory(EMPTY_MEMORY)
      for (const [index, version] of versions.entries()) {
        const entries = Object.entries(version).map(([id, text]) => {
          const old = before.memory.entries.find((one) => one.id === BigInt(id))
          return old?.content === text ? old : entry(Number(id), text)
        })
        const after = encodeMemory({ nextId: 99n, entries }, before)
        assert.deepEqual(after.bytes, encodeMemory({ nextId: 99n, entries: structuredClone(entries) }).bytes)
        assert.deepEqual(after, { ...decodeMemory(after.bytes), memory: after.memory })
        before = index % 2 === 0 ? after : decodeMemory(after.bytes)
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('decodeMemory() of any bytes returns a memory or an invalid error', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 6 }), (changes) => {
      const bytes = Buffer.from(good)
      for (const [offset, value] of changes) bytes[offset] = value
      try {
        decodeMemory(bytes)
      } catch (reason) {
        assert.equal((reason as { kind?: string }).kind, 'invalid')
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

function patched(offset: number, value: number): Buffer {
  const bytes = Buffer.from(good)
  bytes[offset] = value
  return bytes
}
