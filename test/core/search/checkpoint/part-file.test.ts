import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { decodePart, encodePart } from '../../../../src/core/search/checkpoint/part-file.ts'
import type { CheckpointPart } from '../../../../src/core/search/checkpoint/types.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const numbers = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.uint16Array({ maxLength: 40 }),
  fc.uint32Array({ maxLength: 40 }),
  fc.int32Array({ maxLength: 40 }),
  fc.float32Array({ maxLength: 40, noNaN: true }),
  fc.float64Array({ maxLength: 40, noNaN: true }),
)
const parts: fc.Arbitrary<CheckpointPart> = fc.record({
  facts: fc.dictionary(fc.string(), fc.integer()),
  arrays: fc.dictionary(fc.string({ unit: 'grapheme' }), numbers, { maxKeys: 6 }),
})
const SAMPLE: CheckpointPart = {
  facts: { documents: 3 },
  arrays: { lengths: Uint16Array.of(1, 2, 3), times: Float64Array.of(1.5, -0), none: new Uint32Array() },
}

test('decodePart() reverses encodePart()', () => {
  fc.assert(
    fc.property(parts, (part) => {
      const decoded = decodePart(encodeFile(part))
      assert.ok(typeof decoded === 'object', String(decoded))
      assert.deepEqual({ ...decoded.part.facts }, { ...part.facts })
      assert.deepEqual(Object.entries(decoded.part.arrays), Object.entries(part.arrays))
      assert.equal(decoded.crc, encodePart(part).crc)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('decodePart() returns views of the bytes, each at a multiple of 8', () => {
  const bytes = encodeFile(SAMPLE)
  const decoded = decodePart(bytes)
  assert.ok(typeof decoded === 'object')
  for (const array of Object.values(decoded.part.arrays)) {
    assert.equal(array.buffer, bytes.buffer)
    assert.equal(array.byteOffset % 8, 0)
  }
})

test('encodePart() copies no array', () => {
  const lengths = new Uint16Array(new SharedArrayBuffer(64), 8, 4)
  const { pieces } = encodePart({ facts: {}, arrays: { lengths } })
  assert.ok(pieces.some(({ buffer, byteOffset }) => buffer === lengths.buffer && byteOffset === 8))
})

test('decodePart() rejects a file with any flipped bit', () => {
  const bytes = encodeFile(SAMPLE)
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const damaged = shared(bytes)
    damaged[bit >> 3]! ^= 1 << (bit & 7)
    assert.equal(typeof decodePart(damaged), 'string', `bit ${bit}`)
  }
})

test('decodePart() rejects a file of any other length', () => {
  const bytes = encodeFile(SAMPLE)
  for (let length = 0; length < bytes.length; length++) {
    assert.equal(typeof decodePart(shared(bytes.subarray(0, length))), 'string', `${length} bytes`)
  }
  assert.equal(decodePart(shared([...bytes, 0])), 'its checksum is wrong')
})

test('decodePart() rejects other files, with or without a valid checksum', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (noise, isSummed) => {
      const bytes = isSummed ? summed(Buffer.from(noise)) : shared(noise)
      assert.equal(typeof decodePart(bytes), 'string')
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('decodePart() rejects a header that does not match its file', () => {
  const body = new Uint8Array(16)
  const heads: unknown[] = [
    null,
    [],
    {},
    { facts: {}, arrays: {} },
    { facts: [], arrays: [] },
    { facts: { a: 'text' }, arrays: [['a', 'Uint8Array', 16]] },
    { facts: {}, arrays: [['a', 'Uint8Array', 17]] },
    { facts: {}, arrays: [['a', 'Uint8Array', 8]] },
    {
      facts: {},
      arrays: [
        ['a', 'Uint8Array', -8],
        ['b', 'Uint8Array', 24],
      ],
    },
    { facts: {}, arrays: [['a', 'Float64Array', 2 ** 53]] },
    { facts: {}, arrays: [['a', 'Float64Array', 1.5]] },
    { facts: {}, arrays: [['a', 'constructor', 16]] },
    { facts: {}, arrays: [['a', ['Uint8Array'], 16]] },
    { facts: {}, arrays: [[5, 'Uint8Array', 16]] },
    { facts: {}, arrays: [null] },
  ]
  for (const head of heads) {
    const json = Buffer.from(JSON.stringify(head))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(json.length)
    const padding = Buffer.alloc((8 - ((20 + json.length) % 8)) % 8)
    const bytes = summed(Buffer.concat([length, json, padding, body]))
    assert.equal(decodePart(bytes), 'its header does not match its length', json.toString())
  }
})

test('decodePart() reports that another version wrote the file', () => {
  const bytes = encodeFile(SAMPLE)
  bytes[8] = 2
  assert.equal(decodePart(bytes), 'its format is 2, not 1')
})

function encodeFile(part: CheckpointPart): Uint8Array<SharedArrayBuffer> {
  return shared(Buffer.concat(encodePart(part).pieces))
}

/** Returns a file with magic, version and the right checksum before these bytes. */
function summed(content: Buffer): Uint8Array<SharedArrayBuffer> {
  const front = Buffer.alloc(16)
  front.write('CRABIDX\0', 'latin1')
  front.writeUInt32LE(1, 8)
  front.writeUInt32LE(crc32(content), 12)
  return shared(Buffer.concat([front, content]))
}

function shared(bytes: ArrayLike<number>): Uint8Array<SharedArrayBuffer> {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}
