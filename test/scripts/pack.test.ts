import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openPack } from '../../bin/pack.ts'
import { makePack } from '../../scripts/sea/pack.ts'
import { propertyRuns } from '../support/property-runs.ts'

const name = fc.stringMatching(/^[a-z-]{1,12}\.js$/)
/** Bytes, some of them long enough to be compressed. */
const long = fc
  .tuple(fc.string({ unit: 'binary-ascii' }), fc.constantFrom(1, 5_000))
  .map(([text, times]) => text.repeat(times))

test('openPack() returns every source and code cache that makePack() was given', () => {
  const chunk = fc.record({ source: long, cache: fc.option(fc.uint8Array()), isCold: fc.boolean() })
  fc.assert(
    fc.property(fc.dictionary(name, chunk), (program) => {
      const pack = buildPack(program)
      for (const [id, { source, cache }] of Object.entries(program)) {
        assert.equal(pack.source(id), source)
        assert.deepEqual(pack.cache(id)?.toHex(), cache?.toHex())
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('makePack() compresses large parts of cold chunks only', () => {
  const source = 'x'.repeat(50_000)
  const size = (isCold: boolean, length: number) =>
    toBytes({ 'a.js': { source: source.slice(0, length), cache: null, isCold } }).length
  assert.ok(size(false, 50_000) > 50_000)
  assert.ok(size(true, 50_000) < 500)
  assert.equal(size(true, 1_000), size(false, 1_000))
})

test('openPack() returns code caches in place, at offsets V8 can read', () => {
  const bytes = toBytes({ 'a.js': { source: 'x', cache: Uint8Array.of(1, 2, 3), isCold: false } })
  const buffer = toArrayBuffer(bytes)
  const cache = openPack(buffer).cache('a.js')!
  assert.equal(cache.buffer, buffer)
  assert.equal(cache.byteOffset % 8, 0)
})

type Program = Record<string, { source: string; cache: Uint8Array | null; isCold: boolean }>

function toBytes(program: Program): Buffer<ArrayBuffer> {
  const chunks = Object.entries(program)
  return makePack({
    chunks: new Map(chunks.map(([id, { source }]) => [id, source])),
    caches: new Map(chunks.flatMap(([id, { cache }]) => (cache ? [[id, cache] as const] : []))),
    cold: new Set(chunks.flatMap(([id, { isCold }]) => (isCold ? id : []))),
  })
}

function buildPack(program: Program) {
  return openPack(toArrayBuffer(toBytes(program)))
}

function toArrayBuffer(bytes: Buffer<ArrayBuffer>): ArrayBuffer {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
}
