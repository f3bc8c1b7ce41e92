import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openPack } from '../../bin/pack.ts'
import { makePack } from '../../scripts/sea/pack.ts'

const name = fc.stringMatching(/^[a-z-]{1,12}\.js$/)
const ascii = fc.string({ unit: 'binary-ascii' })

test('openPack() gives back every source and code cache that makePack() was given', () => {
  const entries = fc.dictionary(name, fc.record({ source: ascii, cache: fc.option(fc.uint8Array()) }))
  fc.assert(
    fc.property(entries, (program) => {
      const sources = new Map(Object.entries(program).map(([id, { source }]) => [id, source]))
      const caches = Object.entries(program).flatMap(([id, { cache }]) =>
        cache ? [[id, cache] as const] : [],
      )
      const pack = openPack(toArrayBuffer(makePack(sources, new Map(caches))))
      for (const [id, { source, cache }] of Object.entries(program)) {
        assert.equal(pack.source(id), source)
        assert.deepEqual(pack.cache(id)?.toHex(), cache?.toHex())
      }
    }),
  )
})

test('openPack() gives code caches in place, at offsets V8 can read', () => {
  const bytes = toArrayBuffer(makePack(new Map([['a.js', 'x']]), new Map([['a.js', Uint8Array.of(1, 2, 3)]])))
  const cache = openPack(bytes).cache('a.js')!
  assert.equal(cache.buffer, bytes)
  assert.equal(cache.byteOffset % 8, 0)
})

function toArrayBuffer(bytes: Buffer<ArrayBuffer>): ArrayBuffer {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
}
